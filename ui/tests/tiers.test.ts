// components -> features/NOUN -> app, and one file that knows Tauri: read from the imports themselves.
import { expect, test } from 'vitest';

const sources = import.meta.glob(['../src/**/*.{ts,svelte}', '!../src/**/*.test.ts', '!../src/bindings.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
}) as Record<string, string>;

const files = Object.entries(sources).map(([path, text]) => ({
  path: path.replace('../src/', ''),
  imports: [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((found) => found[1] ?? ''),
  text,
}));

function resolve(path: string, target: string): string {
  if (!target.startsWith('.')) return target;
  const parts = path.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** May a file of `tier` import `target`? */
function allowed(path: string, target: string): boolean {
  const [tier, noun] = path.split('/');
  if (target.startsWith('@tauri-apps/') || target === 'bindings') return path === 'ipc.ts' || tier === 'mock';
  if (!target.includes('/') && target !== 'ipc') return true;
  const [to, toNoun] = target.split('/');
  switch (tier) {
    case 'components':
      return to === 'components';
    case 'i18n':
      return to === 'i18n';
    case 'state':
      return to === 'state' || target === 'ipc';
    case 'features':
      return (
        to === 'components' ||
        to === 'i18n' ||
        to === 'state' ||
        target === 'ipc' ||
        (to === 'features' && toNoun === noun)
      );
    default:
      return true;
  }
}

test('imports keep to their tiers', () => {
  expect(files.length).toBeGreaterThan(40);
  const faults = files.flatMap(({ path, imports }) =>
    imports
      .map((target) => resolve(path, target))
      .filter((target) => !allowed(path, target))
      .map((target) => `${path} -> ${target}`),
  );
  expect(faults).toEqual([]);
});

test('features and state take types from the IPC, never calls', () => {
  const calls = files.filter(
    ({ path, text }) => /^(features|state|components)\//.test(path) && /import (?!type)[^;]*\/ipc'/.test(text),
  );
  expect(calls.map(({ path }) => path)).toEqual([]);
});

test('nothing the CSP would block', () => {
  const bad = files.filter(({ text }) => /\sstyle="|style:|{@html|eval\(|new Function/.test(text));
  expect(bad.map(({ path }) => path)).toEqual([]);
});

test('files stay small', () => {
  const large = files.filter(({ text }) => text.split('\n').length > 400);
  expect(large.map(({ path }) => path)).toEqual([]);
});
