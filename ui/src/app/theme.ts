// Light, dark or the system's, and more contrast where the system asks for it: two attributes on <html>, no inline script.
import type { Theme } from '../ipc';

let stop = () => {};

export function setTheme(theme: Theme): void {
  stop();
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const contrast = matchMedia('(prefers-contrast: more)');
  const wear = () => {
    const { dataset } = document.documentElement;
    dataset.theme = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme;
    dataset.contrast = contrast.matches ? 'more' : '';
  };
  wear();
  for (const query of [dark, contrast]) query.addEventListener('change', wear);
  stop = () => [dark, contrast].forEach((query) => query.removeEventListener('change', wear));
}
