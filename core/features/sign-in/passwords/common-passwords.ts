// Detects long passwords that are easy to guess. Few leaked passwords have the minimum length, and nearly all
// of those are a repeated short one, a keyboard pattern or a row of digits, so this module checks the
// structure instead of a list of passwords.

/** Words that often pad a password to the minimum length. */
const words = [
  'password',
  'passwort',
  'passw0rd',
  'p@ssword',
  'p@ssw0rd',
  'motdepasse',
  'contraseña',
  'contrasena',
  'letmein',
  'welcome',
  'iloveyou',
  'trustno1',
  'changeme',
  'administrator',
  'admin',
  'superman',
  'batman',
  'football',
  'baseball',
  'basketball',
  'liverpool',
  'manchester',
  'princess',
  'sunshine',
  'monkey',
  'dragon',
  'master',
  'secret',
  'starwars',
  'pokemon',
  'computer',
  'internet',
  'chocolate',
  'butterfly',
  'correcthorsebatterystaple',
  'thequickbrownfox',
  'qwerty',
  'tatami',
  'test',
  'hello',
  'login',
  'guest',
  'root',
  'user',
  'demo',
  'love',
  'god',
  'summer',
  'winter',
  'spring',
  'autumn',
];

/** Keyboard patterns and well-known sequences. */
const walks = [
  '12345678901234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  '!@#$%^&*()_+',
  '!"§$%&/()=?',
];

const ways = [...walks, ...walks.map((walk) => [...walk].toReversed().join(''))].map((way) => way + way);
const walkMin = 4;

/** Maximum number of characters of a common password that belong to no word, pattern, year or separator. */
const restMax = 4;

export function isCommon(lowerCased: string): boolean {
  if (new Set(lowerCased).size < 5 || isRepeated(lowerCased)) return true;
  const withoutWords = words.reduce((left, word) => left.replaceAll(word, ''), lowerCased);
  return withoutWalks(withoutWords).replaceAll(/(19|20)\d\d|[\d\s!?.,;:_#*+-]/g, '').length <= restMax;
}

/** Returns true if the text repeats one piece of at most half its length. */
function isRepeated(text: string): boolean {
  for (let length = 1; length <= text.length / 2; length++)
    if (
      text
        .slice(0, length)
        .repeat(Math.ceil(text.length / length))
        .startsWith(text)
    )
      return true;
  return false;
}

function withoutWalks(text: string): string {
  let left = '';
  for (let at = 0; at < text.length;) {
    let length = 0;
    while (at + length < text.length && ways.some((way) => way.includes(text.slice(at, at + length + 1))))
      length++;
    if (length < walkMin) left += text[at++];
    else at += length;
  }
  return left;
}
