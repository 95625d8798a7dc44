import svelte from 'eslint-plugin-svelte';
import { defineConfig } from 'eslint/config';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

export default defineConfig(
    { ignores: ['dist/', 'dist-mock/', 'src/bindings.ts'] },
    ts.configs.recommended,
    svelte.configs.recommended,
    {
        files: ['**/*.svelte', '**/*.svelte.ts'],
        languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
    },
    {
        rules: {
            'no-console': 'error',
            'svelte/no-at-html-tags': 'error',
            // The CSP forbids style attributes.
            'svelte/no-inline-styles': 'error',
            '@typescript-eslint/no-non-null-assertion': 'error',
        },
    },
);
