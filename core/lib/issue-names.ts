// How teams and issues are named: ENG, and ENG-42. They are kept in capitals; whoever names one may write it in any case.

const key = '[A-Z][A-Z0-9]{0,9}';
const keyInAnyCase = '[A-Za-z][A-Za-z0-9]{0,9}';

/** As a team is made with it. */
export const teamKeyPattern = `^${key}$`;
export const teamKeyGivenPattern = `^${keyInAnyCase}$`;
export const identifierGivenPattern = `^${keyInAnyCase}-[1-9][0-9]{0,9}$`;
