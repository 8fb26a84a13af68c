// Emoji of reactions: a Unicode emoji, or the name of a common one.
import { invalidField } from '../../lib/errors.ts';
import { emojiBytesMax } from './contract.ts';

const emojiByName: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '+1': '👍',
    thumbsup: '👍',
    '-1': '👎',
    thumbsdown: '👎',
    heart: '❤️',
    laughing: '😆',
    smile: '😄',
    tada: '🎉',
    rocket: '🚀',
    eyes: '👀',
    confused: '😕',
    fire: '🔥',
    pray: '🙏',
    clap: '👏',
    white_check_mark: '✅',
  }),
);

// All emoji that are recommended for general interchange, sequences included (UTS #51).
const oneEmoji = new RegExp('^\\p{RGI_Emoji}$', 'v');
const asEmoji = '\u{FE0F}';

/**
 * Returns one canonical form for every spelling: name, and with or without the emoji variation selector.
 * @throws ApiError validation_failed
 */
export function emojiOf(input: string): string {
  const known = emojiByName.get(input.replace(/^:(.+):$/, '$1'));
  if (known !== undefined) return known;
  const forms = [input, `${input}${asEmoji}`];
  const emoji = forms.find((form) => oneEmoji.test(form) && Buffer.byteLength(form) <= emojiBytesMax);
  if (emoji !== undefined) return emoji;
  throw invalidField('emoji', 'invalid_format', {
    why: 'This is not a single emoji.',
    fix: `Give an emoji such as 👍, or a name: ${[...emojiByName.keys()].join(', ')}.`,
  });
}
