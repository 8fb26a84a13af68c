import { note, type Check } from '../check.ts';

export const backups: Check = {
  name: 'backups',
  holds: 'there is a recent backup',
  look: () => [note('Backups are not looked at yet.')],
};
