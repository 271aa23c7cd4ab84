import { defineConfig, globalIgnores } from 'eslint/config';
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Of Node.js, in scripts without types. */
const globals = ['AbortSignal', 'Buffer', 'URL', 'WebSocket', 'console', 'fetch', 'process'];

export default defineConfig(
  globalIgnores(['generated/', 'dist/', 'node_modules/', 'test/fixtures/', 'packages/*/build/']),
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    // Samples and bytes are indexed in hot loops whose bounds the loop itself keeps.
    files: [
      'src/audio/resample.ts',
      'src/audio/wasm/**/*.ts',
      'lib/recording/**/*.ts',
      'test/**/*.ts',
      'bench/**/*.ts',
    ],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off', '@typescript-eslint/unbound-method': 'off' },
  },
  {
    // Trusted Types forbid them in the browser; this says it earlier.
    files: ['page/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-syntax': ['error', 'innerHTML', 'outerHTML', 'insertAdjacentHTML', 'dangerouslySetInnerHTML'].map(
        (rule) => (rule === 'error' ? rule : { selector: `[name="${rule}"]`, message: 'Make elements, never HTML.' }),
      ),
    },
  },
  {
    files: ['{src,engines,lib}/**/*.ts'],
    rules: { 'no-restricted-globals': ['error', 'DisposableStack', 'AsyncDisposableStack'] }, // Node.js 22 has neither
  },
  {
    // Written as their readers would write them.
    files: ['examples/**/*.ts'],
    rules: { '@typescript-eslint/require-await': 'off', '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: { globals: Object.fromEntries(globals.map((name) => [name, 'readonly'])) },
  },
);
