const units = {
  year: { short: 'yr.', last: 'last yr.', next: 'next yr.' },
  month: { short: 'mo.', last: 'last mo.', next: 'next mo.' },
  day: { short: 'days', last: 'yesterday', next: 'tomorrow' },
  hour: { short: 'hr.', last: '1 hr. ago', next: 'in 1 hr.' },
  minute: { short: 'min.', last: '1 min. ago', next: 'in 1 min.' },
  second: { short: 'sec.', last: '1 sec. ago', next: 'in 1 sec.' },
} as const;
export type Unit = keyof typeof units;

/** Texts that several screens use. Each screen has its own file in this folder, which together are the catalogue. */
export const text = {
  product: 'Tatami',
  search: 'Search',
  findIssue: 'Identifier or words of the title',
  noMatch: 'No match',
  none: 'None',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  create: 'Create',
  delete: 'Delete',
  edit: 'Edit',
  undo: 'Undo',
  retry: 'Try again',
  loading: 'Loading…',
  loadMore: 'Load more',
  more: 'More actions',
  copied: 'Copied',
  copy: 'Copy',
  copyLink: 'Copy link',
  linkCopied: 'Link copied.',
  noAssignee: 'No assignee',
  noProject: 'No project',
  notFound: 'Page not found',
  notFoundHint: 'This page does not exist, or you have no access to it.',
  home: 'Go to your issues',
  somethingFailed: 'Something went wrong',
  offlineWrite: 'The server does not answer, so the change may be lost. Try again when you are online.',
  requestId: (id: string) => `Request ${id}`,
  confirmSignIn: 'Confirm your sign-in',
  confirmSignInHint: 'This change needs a recent sign-in. You return to this page afterwards.',
  /** @param amount negative for the past; 0 only for seconds */
  relativeTime(amount: number, unit: Unit): string {
    const { short, last, next } = units[unit];
    if (amount === 0) return 'now';
    if (amount < 0) return amount === -1 ? last : `${-amount} ${short} ago`;
    return amount === 1 ? next : `in ${amount} ${short}`;
  },
  priorities: { none: 'No priority', low: 'Low', medium: 'Medium', high: 'High', urgent: 'Urgent' },
  stateTypes: {
    triage: 'Triage',
    backlog: 'Backlog',
    unstarted: 'To do',
    started: 'In progress',
    completed: 'Done',
    canceled: 'Canceled',
    duplicate: 'Duplicate',
  },
} as const;

/** Returns the words of a camel-case name, such as `dueDate`. */
export const wordsOfName = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
