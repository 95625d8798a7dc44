// A local stand-in for the cloud in both wire formats, streamed. Usage: node cloud.mjs PORT LOG [verdict]
// It appends each request it gets to LOG as one line of JSON: path, headers that matter, body as base64.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [port, log, verdict = 'approve'] = process.argv.slice(2);
const answer = JSON.stringify({
  findings: [],
  verdict,
  summary: 'The change does what the task asks, and the tests show it.',
});

const pieces = answer.match(/.{1,24}/gs);
const sse = (event, data) => `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(data)}\n\n`;

function anthropic(response) {
  response.write(
    sse('message_start', {
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'stand-in', usage: { input_tokens: 900, output_tokens: 1 } },
    }),
  );
  response.write(sse('content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }));
  for (const text of pieces) {
    response.write(sse('content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }));
  }
  response.write(sse('content_block_stop', { type: 'content_block_stop', index: 0 }));
  response.write(sse('message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 60 } }));
  response.end(sse('message_stop', { type: 'message_stop' }));
}

function openai(response) {
  const chunk = (delta, finish = null) => ({
    id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'stand-in',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  response.write(sse('', chunk({ role: 'assistant', content: '' })));
  for (const content of pieces) response.write(sse('', chunk({ content })));
  response.write(sse('', chunk({}, 'stop')));
  response.write(
    sse('', { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'stand-in', choices: [], usage: { prompt_tokens: 900, completion_tokens: 60, total_tokens: 960 } }),
  );
  response.end('data: [DONE]\n\n');
}

createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts);
    appendFileSync(log, `${JSON.stringify({ path: request.url, body: body.toString('base64') })}\n`);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (request.url.endsWith('/messages')) anthropic(response);
    else openai(response);
  });
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
