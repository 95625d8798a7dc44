// Writes what `node --test` found as one JSON object a line, so that a run that is cut off is known up to there:
// {"file", "names", "outcome", "message"} for a test, {"file", "unloaded": true, "message"} for a file without any.
import fs from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';

const open = new Map(); // file: the names that are open, outermost first
const printed = new Map(); // file: the start of what it wrote to its standard error
const seen = new Map(); // file: how many tests were reported
const COMPARES = ['strictEqual', 'deepStrictEqual', 'equal', 'deepEqual', '==', '==='];

const short = (value) => inspect(value, { depth: 6, breakLength: Infinity, maxStringLength: 200, maxArrayLength: 40 });

function said(error) {
  const cause = error?.cause instanceof Object ? error.cause : error;
  const text = String(cause?.message ?? error?.message ?? error);
  const asserted = cause?.code === 'ERR_ASSERTION' || cause?.name === 'AssertionError';
  const name = asserted ? 'AssertionError' : (cause?.name ?? 'Error');
  const own = asserted && cause.generatedMessage === false ? `${text}: ` : '';
  // `assert.ok` counts as a comparison with true; what the person wrote says more.
  const compares = COMPARES.includes(cause?.operator) && !(own && cause.expected === true);
  const head = asserted && compares
    ? `${name}: ${own}got ${short(cause.actual)}, expected ${short(cause.expected)}`
    : `${name}: ${text.trim().split(/\s*\n\s*/).join(' ')}`;
  const stack = String(cause?.stack ?? '').split('\n').filter((line) => line.startsWith('    at ') && !line.includes('node:internal'));
  const subtests = error?.failureType === 'subtestsFailed';
  return { outcome: asserted || subtests ? 'failed' : 'errored', message: [head, ...stack.slice(0, 4)].join('\n').slice(0, 2000) };
}

// Of a file that ended before it had a test, only its standard error tells why.
function unloaded(file) {
  const text = printed.get(file) ?? '';
  const line = text.split('\n').find((line) => /^(\w*Error|Error)\b.*:/.test(line)) ?? text.trim().split('\n')[0];
  return { asserted: text.includes('[ERR_ASSERTION]'), message: `${line}\n${text}`.slice(0, 2000) };
}

// A file of node's tests that reports none has ended before them, which node takes for a success.
function usesTests(file) {
  try {
    return fs.readFileSync(file, 'utf8').includes('node:test');
  } catch {
    return false;
  }
}

export default async function* report(source) {
  for await (const { type, data } of source) {
    // Newer versions name the file of a message relative to the working folder.
    const file = data?.file ? path.resolve(data.file) : '';
    if (type === 'test:stderr') {
      const text = printed.get(file) ?? '';
      if (text.length < 8000) printed.set(file, text + data.message);
      continue;
    }
    const names = open.get(file) ?? [];
    if (type === 'test:start') {
      names.length = data.nesting;
      names.push(data.name);
      open.set(file, names);
      continue;
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const own = [...names.slice(0, data.nesting), data.name];
    const ofFile = data.nesting === 0 && path.resolve(data.name) === file;
    const suite = data.details?.type === 'suite';
    const error = data.details?.error;
    let row;
    if (ofFile && (seen.get(file) ?? 0) > 0) continue;
    if (ofFile && type === 'test:fail') {
      const { asserted, message } = unloaded(file);
      row = asserted ? { names: [], outcome: 'failed', message } : { unloaded: true, message };
    } else if (ofFile && usesTests(file)) {
      row = { unloaded: true, message: 'it ended before it reported a test' };
    } else if (data.skip !== undefined || (data.todo !== undefined && type === 'test:fail')) {
      row = { names: ofFile ? [] : own, outcome: 'skipped', message: String(data.skip ?? data.todo) };
    } else if (type === 'test:pass') {
      if (suite) continue;
      row = { names: ofFile ? [] : own, outcome: 'passed', message: '' };
    } else {
      // A suite fails with its tests, which speak for themselves, unless one of its hooks did.
      if (suite && error?.failureType === 'subtestsFailed') continue;
      row = { names: own, ...said(error) };
    }
    seen.set(file, (seen.get(file) ?? 0) + 1);
    yield `${JSON.stringify({ file, ...row })}\n`;
  }
}
