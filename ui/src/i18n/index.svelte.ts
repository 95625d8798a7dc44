// Words in two languages. Keys are typed by en.json; a count chooses the plural form by Intl.PluralRules.
import en from './en.json';
import ko from './ko.json';
import * as format from './format';
import type { Language } from './format';

type Base<Key> = Key extends `${infer Stem}_one` | `${infer Stem}_other` ? Stem : Key;
export type Key = Base<keyof typeof en>;
type Values = Record<string, string | number>;

const WORDS: Record<Language, Record<string, string>> = { en, ko };
let language = $state<Language>('en');

export function setLanguage(next: string): void {
  language = next === 'ko' ? 'ko' : 'en';
  document.documentElement.lang = language;
}

export function t(key: Key, values: Values = {}): string {
  return translate(language, key, values);
}

/** Exposed for tests. `n` chooses the plural; `{name}` is filled in. */
export function translate(language: Language, key: string, values: Values): string {
  const words = WORDS[language];
  const plural = typeof values.n === 'number' ? new Intl.PluralRules(language).select(values.n) : 'other';
  const text = words[`${key}_${plural}`] ?? words[`${key}_other`] ?? words[key];
  if (text === undefined) return key;
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    return typeof value === 'number' ? format.number(value, language) : String(value ?? '');
  });
}

export const say = {
  number: (value: number, digits = 0) => format.number(value, language, digits),
  bytes: (value: number) => format.bytes(value, language),
  dollars: format.dollars,
  seconds: (millis: number) => format.seconds(millis, language),
  when: (at: number, now: number) => format.when(at, now, language),
  memory: (megabytes: number) => format.bytes(megabytes * 1_000_000, language),
};
