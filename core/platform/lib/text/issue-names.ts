// Patterns of team keys (ENG) and issue identifiers (ENG-42). They are stored in upper case and matched case-insensitively.

const key = '[A-Z][A-Z0-9]{0,9}';
const keyInAnyCase = '[A-Za-z][A-Za-z0-9]{0,9}';

/** Pattern of the key of a new team. */
export const teamKeyPattern = `^${key}$`;
export const teamKeyInputPattern = `^${keyInAnyCase}$`;
export const identifierInputPattern = `^${keyInAnyCase}-[1-9][0-9]{0,9}$`;
