// A small WebDriver client over fetch, enough for one window: find, click, type, text, wait, screenshot.
import { writeFile } from 'node:fs/promises';

export class Driver {
  #base;
  #session;

  static async open(port, binary, args) {
    const driver = new Driver();
    driver.#base = `http://127.0.0.1:${port}`;
    const options = { binary, args };
    const body = { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } } };
    driver.#session = (await driver.#call('POST', '/session', body)).sessionId;
    return driver;
  }

  async #call(method, path, body) {
    const response = await fetch(this.#base + path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${value?.error}: ${value?.message}`);
    return value;
  }

  #do(method, path, body) {
    return this.#call(method, `/session/${this.#session}${path}`, body);
  }

  async find(testid) {
    const found = await this.#do('POST', '/element', { using: 'css selector', value: `[data-testid="${testid}"]` });
    return Object.values(found)[0];
  }

  async click(testid) {
    await this.#do('POST', `/element/${await this.find(testid)}/click`, {});
  }

  async type(testid, text) {
    await this.#do('POST', `/element/${await this.find(testid)}/value`, { text });
  }

  async text(testid) {
    return this.#do('GET', `/element/${await this.find(testid)}/text`);
  }

  async run(script, ...args) {
    return this.#do('POST', '/execute/sync', { script, args });
  }

  // Polls until `check` gives something truthy; errors count as not yet.
  async wait(what, check, seconds = 20) {
    const end = Date.now() + seconds * 1000;
    let last;
    while (Date.now() < end) {
      try {
        const value = await check();
        if (value) return value;
      } catch (error) {
        last = error;
      }
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    throw new Error(`waited ${seconds} s for ${what}${last ? `; last: ${last.message}` : ''}`);
  }

  waitFor(testid, seconds) {
    return this.wait(`the element ${testid}`, () => this.find(testid), seconds);
  }

  async screenshot(file) {
    // WebKit waits for a frame, and a page at rest draws none.
    await this.run(
      "const end = Date.now() + 3000; let on = false; const t = setInterval(() => { on = !on; document.body.style.opacity = on ? '0.999' : ''; if (Date.now() > end) { clearInterval(t); document.body.style.opacity = ''; } }, 50);",
    );
    await writeFile(file, Buffer.from(await this.#do('GET', '/screenshot'), 'base64'));
  }

  close() {
    return this.#do('DELETE', '');
  }
}
