// Numbers, sizes, money and time in words, by language. Pure.

export type Language = 'en' | 'ko';

export function number(value: number, language: Language, digits = 0): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: digits, minimumFractionDigits: digits }).format(
    value,
  );
}

/** "0 B", "640 B", "3.4 KB", "1.1 GB": thousands, one digit. */
export function bytes(value: number, language: Language): string {
  const units = ['B', 'KB', 'MB', 'GB'];
  let [size, unit] = [value, 0];
  while (size >= 1000 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${number(size, language, unit === 0 || size >= 100 ? 0 : 1)} ${units[unit]}`;
}

/** "$0", "$0.009", "$1.20": never rounds something down to nothing. */
export function dollars(value: number): string {
  if (value === 0) return '$0';
  if (value < 0.001) return '< $0.001';
  return `$${value.toFixed(value < 1 ? 3 : 2)}`;
}

export function seconds(millis: number, language: Language): string {
  const total = millis / 1000;
  const [min, sec] = language === 'ko' ? ['분', '초'] : [' min', ' s'];
  if (total < 10) return `${number(total, language, 1)}${sec}`;
  if (total < 100) return `${number(total, language)}${sec}`;
  const rest = Math.round(total % 60);
  return `${Math.floor(total / 60)}${min}${rest ? ` ${rest}${sec}` : ''}`;
}

/** When, seen from `now`: minutes, then the time of the day, then the day of the week, then the date. */
export function when(at: number, now: number, language: Language): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return language === 'ko' ? '방금' : 'now';
  if (minutes < 60) return language === 'ko' ? `${minutes}분` : `${minutes} min`;
  const date = new Date(at);
  const form = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(language, options).format(date);
  if (minutes < 60 * 12) return form({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  if (minutes < 60 * 24 * 6) return form({ weekday: 'short' });
  return form({ month: 'short', day: 'numeric' });
}
