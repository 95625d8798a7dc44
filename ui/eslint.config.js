import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

export default ts.config(
  { ignores: ['dist/', 'dist-mock/', 'src/bindings.ts'] },
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
  },
  {
    rules: {
      'no-console': 'error',
      'svelte/no-at-html-tags': 'error',
      // The CSP forbids style attributes; directives go through the CSSOM, but tokens and classes say it better.
      'svelte/no-inline-styles': ['error', { allowTransitions: true }],
      '@typescript-eslint/no-non-null-assertion': 'error',
    },
  },
);
