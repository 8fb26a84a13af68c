// The emoji of a reaction: one of Unicode, or one of the names that people know the usual ones by.
import { invalidField } from '../../lib/errors.ts';
import { emojiBytesMax } from './contract.ts';

const named: ReadonlyMap<string, string> = new Map(
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

/** The same for every way to write it: by its name, with and without the mark that asks for an emoji. @throws ApiError validation_failed */
export function emojiOf(given: string): string {
  const known = named.get(given.replace(/^:(.+):$/, '$1'));
  if (known !== undefined) return known;
  const forms = [given, `${given}${asEmoji}`];
  const emoji = forms.find((form) => oneEmoji.test(form) && Buffer.byteLength(form) <= emojiBytesMax);
  if (emoji !== undefined) return emoji;
  throw invalidField('emoji', 'invalid_format', {
    why: 'This is not one emoji.',
    fix: `Give one such as 👍, or a name: ${[...named.keys()].join(', ')}.`,
  });
}
