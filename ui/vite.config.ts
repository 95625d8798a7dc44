import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { defineConfig } from 'vitest/config';

// The mock build goes beside the real one: the app embeds `dist`, and it must never hold recorded data.
export default defineConfig(({ mode }) => ({
  plugins: [svelte(), ...(mode === 'test' ? [svelteTesting()] : [])],
  build: { outDir: mode === 'mock' ? 'dist-mock' : 'dist', target: 'es2022', modulePreload: { polyfill: false } },
  test: { environment: 'jsdom', include: ['src/**/*.test.ts', 'tests/**/*.test.ts'], setupFiles: ['tests/setup.ts'] },
}));
