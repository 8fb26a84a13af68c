// Names that strangers give themselves and that people decide by, such as that of an app on the page where they are asked to let it
// in. They must look like what they are: one line, nothing invisible, nothing that turns the text around (Unicode TR 36 §3.3).
const unseen =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\u034f/u;

export const shownNameMax = 80;

/** What is wrong with a name, as the end of a sentence that begins with it; null where nothing is. */
export function faultOfShownName(name: string): string | null {
  if (name.trim() === '') return 'is empty';
  if (name.trim() !== name) return 'begins or ends with white space';
  if ([...name].length > shownNameMax) return `is longer than ${shownNameMax} characters`;
  return unseen.test(name) ? 'holds characters that cannot be seen or that turn the text around' : null;
}
