// Checks self-chosen names that people rely on, such as that of an app on the consent page. They must be one line without invisible
// characters or bidirectional marks (Unicode TR 36 §3.3).
export const unseen =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\u034f/u;

export const displayNameMax = 80;

/** Returns the problem of a name as a predicate, such as `is empty`; null if the name is valid. */
export function displayNameFault(name: string): string | null {
  if (name.trim() === '') return 'is empty';
  if (name.trim() !== name) return 'begins or ends with white space';
  if ([...name].length > displayNameMax) return `is longer than ${displayNameMax} characters`;
  return unseen.test(name) ? 'contains invisible characters or characters that reverse the text' : null;
}

/** Letters that look like ASCII letters, after NFKC and in lower case (Unicode TR 39 §4; scripts in which whole words can be written). */
const lookalikes: readonly (readonly [ascii: string, others: string])[] = [
  ['a', 'аαɑᴀⲁꭺꓮⱥ4@'],
  ['b', 'вьβʙⲃ8'],
  ['c', 'сϲᴄⲥ'],
  ['d', 'ԁᴅ'],
  ['e', 'еєεᴇⲉ3'],
  ['h', 'һнհʜⲏ'],
  ['i', 'іїιıɩɪɨⲓꭵꓲӏl1|!'],
  ['j', 'јϳ'],
  ['k', 'кκᴋⲕ'],
  ['m', 'мμᴍⲙꮇꓟɱ'],
  ['n', 'пηոɴⲛ'],
  ['o', 'оοօσᴏⲟ0'],
  ['p', 'рρᴘⲣ'],
  ['r', 'гʀⲅ'],
  ['s', 'ѕꜱ5$'],
  ['t', 'тτᴛⲧꭲꓔŧƭ7+'],
  ['u', 'υսᴜ'],
  ['v', 'νѵᴠ'],
  ['w', 'ԝωᴡ'],
  ['x', 'хχⲭ'],
  ['y', 'уүγʏⲩ'],
  ['z', 'ᴢζⲍ'],
];
const asciiOf = new Map(lookalikes.flatMap(([ascii, others]) => [...others].map((one) => [one, ascii])));

/** Returns a text that is equal for names that look alike; for comparison only, never for display. */
export function lookOf(name: string): string {
  const plain = name
    .normalize('NFKC')
    .replaceAll(/[\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}\u{1f1e6}-\u{1f1ff}]/gu, letterOfSymbol)
    .normalize('NFD')
    .replaceAll(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase();
  return [...plain]
    .map((one) => asciiOf.get(one) ?? one)
    .join('')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/** Maps letters in circles, squares and flags to ASCII. */
function letterOfSymbol(symbol: string): string {
  const code = symbol.codePointAt(0)!;
  const first = code >= 0x1f1e6 ? 0x1f1e6 : code >= 0x1f170 ? 0x1f170 : 0x1f150;
  return String.fromCharCode(0x61 + code - first);
}

const ours = lookOf('Tatami');

/** Returns true for names that look like `Tatami …`, a part of Tatami. `Acme for Tatami` is allowed. */
export function isLikeOurs(name: string): boolean {
  return lookOf(name).startsWith(ours);
}
