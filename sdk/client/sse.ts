/** Parses server-sent events (WHATWG HTML, Server-sent events) from text in arbitrary pieces. */

export interface SseMessage {
  /** Null if the message has no id. */
  readonly id: string | null;
  readonly event: string;
  /** Null if the message has no data; such a message only gives the position of the stream. */
  readonly data: string | null;
}

export interface SseParser {
  /** Returns the messages that end in this piece of text. */
  push(text: string): SseMessage[];
}

export function createSseParser(): SseParser {
  let rest = '';
  let id: string | null = null;
  let event = '';
  let data: string[] = [];

  const take = (line: string): SseMessage | null => {
    if (line === '') {
      const message = { id, event, data: data.length === 0 ? null : data.join('\n') };
      [id, event, data] = [null, '', []];
      return message.id === null && message.data === null ? null : message;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') id = value;
    if (field === 'event') event = value;
    if (field === 'data') data.push(value);
    // An empty field name is a comment: the heartbeat of the server.
    return null;
  };

  return {
    push(text) {
      const messages: SseMessage[] = [];
      // Most pieces of a large message contain no line end, so the buffered text is not searched again.
      if (!text.includes('\n')) {
        rest += text;
        return messages;
      }
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        const message = take(line.endsWith('\r') ? line.slice(0, -1) : line);
        if (message) messages.push(message);
      }
      return messages;
    },
  };
}
