import { describe, expect, test } from 'vitest';
import en from './en.json';
import * as format from './format';
import { translate } from './index.svelte';
import ko from './ko.json';

const stem = (key: string) => key.replace(/_(one|other)$/, '');
const holes = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1]).sort();
const sources = import.meta.glob(['../**/*.{ts,svelte}', '!../**/*.test.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
});

describe('the two languages', () => {
  test('have the same keys', () => {
    expect([...new Set(Object.keys(ko).map(stem))].sort()).toEqual([...new Set(Object.keys(en).map(stem))].sort());
  });
  test('fill the same holes', () => {
    const korean = ko as Record<string, string>;
    for (const [key, text] of Object.entries(en)) {
      expect(holes(korean[key] ?? korean[`${stem(key)}_other`] ?? ''), key).toEqual(holes(text));
    }
  });
  test('leave nothing empty', () => {
    expect(Object.entries({ ...en, ...ko }).filter(([, text]) => !text.trim())).toEqual([]);
  });
  test('hold no key that nothing asks for', () => {
    const all = Object.values(sources).join('\n');
    const asked = (key: string) =>
      all.includes(`'${key}'`) || all.includes(`\`${key.slice(0, key.lastIndexOf('.') + 1)}$`);
    const error = (key: string) => key.startsWith('error.');
    expect([...new Set(Object.keys(en).map(stem))].filter((key) => !asked(key) && !error(key))).toEqual([]);
  });
});

test('plurals and holes', () => {
  expect(translate('en', 'row.steps', { n: 1 })).toBe('1 step');
  expect(translate('en', 'row.steps', { n: 3 })).toBe('3 steps');
  expect(translate('ko', 'row.steps', { n: 1 })).toBe('1단계');
  expect(translate('en', 'packet.tokens', { out: 1200 })).toBe('tokens in, at most 1,200 out');
  expect(translate('en', 'no.such.key', {})).toBe('no.such.key');
});

test.each([
  [0, '0 B'],
  [640, '640 B'],
  [3412, '3.4 KB'],
  [491_400_064, '491 MB'],
  [1_117_320_768, '1.1 GB'],
])('%d bytes are %s', (value, text) => expect(format.bytes(value, 'en')).toBe(text));

test.each([
  [0, '$0'],
  [0.0004, '< $0.001'],
  [0.00915, '$0.009'],
  [1.2, '$1.20'],
])('%d dollars are %s', (value, text) => expect(format.dollars(value)).toBe(text));

test.each([
  [1_100, '1.1 s'],
  [41_000, '41 s'],
  [96_000, '96 s'],
  [108_000, '1 min 48 s'],
])('%d milliseconds are %s', (value, text) => expect(format.seconds(value, 'en')).toBe(text));

test('when', () => {
  const now = Date.UTC(2026, 2, 2, 12);
  expect(format.when(now - 10_000, now, 'en')).toBe('now');
  expect(format.when(now - 240_000, now, 'ko')).toBe('4분');
  expect(format.when(now - 30 * 86_400_000, now, 'en')).toMatch(/Jan 31/);
});
