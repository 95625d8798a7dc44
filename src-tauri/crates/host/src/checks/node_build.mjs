// Reads every JavaScript file below the working folder as node would, without running any. Prints what does not parse.
// Usage: node --experimental-vm-modules node_build.mjs
import fs from 'node:fs';
import path from 'node:path';
import module from 'node:module';
import vm from 'node:vm';

const SKIPPED = new Set(['node_modules', 'target', 'dist', 'build', 'coverage', 'vendor', 'fixtures', '__fixtures__']);
const KINDS = /\.(js|mjs|cjs|ts|mts|cts)$/;
let bad = 0;

// "module", "commonjs", or "" where nothing says so.
function kind(file) {
  if (/\.m[jt]s$/.test(file)) return 'module';
  if (/\.c[jt]s$/.test(file)) return 'commonjs';
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    try {
      return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).type ?? '';
    } catch (error) {
      if (error.code !== 'ENOENT') return '';
    }
    if (folder === path.dirname(folder) || folder === process.cwd()) return '';
  }
}

const asModule = (text, name) => new vm.SourceTextModule(text, { identifier: name });
const asScript = (text, name) =>
  vm.compileFunction(text.replace(/^#!.*/, ''), ['exports', 'require', 'module', '__filename', '__dirname'], { filename: name });

function read(file, name) {
  let text = fs.readFileSync(file, 'utf8');
  if (/ts$/.test(name)) {
    if (!module.stripTypeScriptTypes) return;
    text = module.stripTypeScriptTypes(text);
  }
  const type = kind(file);
  if (type === 'module') return asModule(text, name);
  try {
    asScript(text, name);
  } catch (error) {
    // Files that say nothing, and files for a bundler, may still be modules.
    if (type === 'commonjs' || !/^\s*(import|export)\b/m.test(text)) throw error;
    asModule(text, name);
  }
}

function walk(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED.has(entry.name)) walk(file);
    if (!entry.isFile() || !KINDS.test(entry.name)) continue;
    const name = path.relative(process.cwd(), file);
    try {
      read(file, name);
    } catch (error) {
      bad = 1;
      console.log(`${name}: ${error.name}: ${error.message}\n${String(error.stack).split('\n').slice(0, 3).join('\n')}`);
    }
  }
}

walk(process.cwd());
process.exit(bad);
