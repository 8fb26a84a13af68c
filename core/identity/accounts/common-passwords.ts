// Passwords that are long enough and yet guessed at once. Leaked lists have few that are so long, and nearly all of those are a short
// one that is written several times, a walk over the keyboard, or a row of digits: so it is asked how a password is made.

/** Words that people take when a password has to be long. */
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

/** Keys in the order in which fingers walk over them, and rows that everybody knows. */
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

/** So many characters may be left once all that is easily guessed is taken out. */
const restMax = 4;

/** @param folded in lower case */
export function isCommon(folded: string): boolean {
  if (new Set(folded).size < 5 || isRepeated(folded)) return true;
  const withoutWords = words.reduce((left, word) => left.replaceAll(word, ''), folded);
  return withoutWalks(withoutWords).replaceAll(/(19|20)\d\d|[\d\s!?.,;:_#*+-]/g, '').length <= restMax;
}

/** Whether it is one piece, of up to half its length, several times over. */
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

/** What is left once each stretch of a walk has been taken out. */
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
