// Runs each case twice and prints one JSON list: what it gives as source text, or the error it throws. Values that do not
// read back as themselves, and errors that only say that the input makes no sense, are null.
// FILE, NAMES and CASES are put in by whoever makes the script.
import assert from 'node:assert/strict';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const file = path.resolve(FILE);
const names = NAMES;
const module = await import(pathToFileURL(file).href);
const values = names.map((name) => module[name] ?? module.default?.[name] ?? module.default);
const AsyncFunction = (async () => {}).constructor;
const SENSELESS = /is not|are not|not defined|cannot read|cannot set|cannot convert|cannot destructure|undefined|invalid array length|call stack/i;

function literal(value, depth = 0) {
  if (depth > 6) throw new Error('too deep');
  if (value === null || value === undefined || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${Array.from(value, (item) => literal(item, depth + 1)).join(', ')}]`;
  if (Object.getPrototypeOf(value) !== Object.prototype) throw new Error('no literal');
  const key = (name) => (/^[A-Za-z_]\w*$/.test(name) && name !== '__proto__' ? name : JSON.stringify(name));
  const rows = Object.entries(value).map(([name, item]) => `${key(name)}: ${literal(item, depth + 1)}`);
  return rows.length ? `{ ${rows.join(', ')} }` : '{}';
}

async function once(setup, call) {
  const given = new Function(...names, `${setup}\nreturn (${call});`)(...values);
  const waits = typeof given?.then === 'function';
  return { waits, value: waits ? await given : given };
}

// An error counts when the code under test threw it itself.
function thrown(error) {
  const first = String(error?.stack ?? '').split('\n').find((line) => line.startsWith('    at ')) ?? '';
  const own = first.includes(path.basename(file)) && !SENSELESS.test(error.message);
  return own && /^[A-Za-z_]\w*$/.test(error.name) ? error.name : null;
}

async function recorded(setup, call) {
  let result;
  try {
    result = await once(setup, call);
  } catch (error) {
    const name = thrown(error);
    // Whether it was thrown or rejected decides how it is expected; a rejection is left out.
    return name && !String(error.stack).includes('async ') ? { error: name } : null;
  }
  const text = literal(result.value);
  assert.deepStrictEqual(new Function(`return (${text});`)(), result.value);
  if (text.length > 240 || literal((await once(setup, call)).value) !== text) return null;
  return { value: text, waits: result.waits };
}

const rows = [];
for (const [setup, call] of CASES) {
  try {
    rows.push(await recorded(setup, call));
  } catch {
    rows.push(null);
  }
}
process.stdout.write(`\n${JSON.stringify(rows)}\n`, () => process.exit(0));
