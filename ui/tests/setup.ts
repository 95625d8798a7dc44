// What jsdom lacks and the page asks for.
import { vi } from 'vitest';

window.matchMedia ??= vi.fn((media: string) => ({
  media,
  matches: false,
  onchange: null,
  addEventListener: () => {},
  removeEventListener: () => {},
  addListener: () => {},
  removeListener: () => {},
  dispatchEvent: () => false,
}));
Element.prototype.scrollTo ??= () => {};
globalThis.CSS ??= {} as typeof CSS;
CSS.escape ??= (text) => text.replace(/[^\w-]/g, '\\$&');
// axe asks for a canvas to look at icon fonts; there are none.
HTMLCanvasElement.prototype.getContext = () => null;
