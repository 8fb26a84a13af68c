// Thirty-six short issues of an invented team for the tests. The team's own vocabulary (amber, ledger, tray)
// is more informative than general English.
import type { Example } from './train.ts';

const bugs: [string, string][] = [
  [
    'Amber state after saving a ledger',
    'Saved ledger 14, the tray went amber and stayed so.\n\n## Seen on\nnightly 2.3\n\n```\nat Tray.flush (tray.ts:40)\n```',
  ],
  [
    'Tray goes amber when two people edit',
    'Both edit the same row, the tray is amber for one of us.\n\n## Seen on\nstable 2.2',
  ],
  [
    'Totals differ between ledger and report',
    'The ledger says 90, the report 88.\n\n## Seen on\nnightly 2.3',
  ],
  [
    'Export stops at row 512',
    'Amber tray at row 512, the file ends there.\n\n## Seen on\nstable 2.1\n\n```\nat Export.next (export.ts:9)\n```',
  ],
  ['Login page is blank in the evening', 'White page between six and seven.\n\n## Seen on\nstable 2.2'],
  ['Amber tray on import of an empty file', 'An empty file makes the tray amber.\n\n## Seen on\nnightly 2.4'],
  [
    'Search finds deleted rows',
    'Deleted rows come up in search until the next day.\n\n## Seen on\nstable 2.2',
  ],
  [
    'Ledger row jumps to the top',
    'Editing a row moves it to the top, tray amber.\n\n## Seen on\nnightly 2.3',
  ],
  [
    'Dates shift by a day',
    'A date typed as the 4th is kept as the 3rd.\n\n## Seen on\nstable 2.2\n\n```\nat Dates.parse (dates.ts:12)\n```',
  ],
  ['Two amber trays for one save', 'One save, two amber trays.\n\n## Seen on\nnightly 2.4'],
  ['Print cuts the last column', 'The last ledger column is not on paper.\n\n## Seen on\nstable 2.1'],
  ['Colours are gone after the update', 'All trays are grey since nightly 2.4.\n\n## Seen on\nnightly 2.4'],
];

const features: [string, string][] = [
  [
    'Ledger templates per department',
    'Departments copy the same ledger every month.\n\n## Who gains\nbookkeeping',
  ],
  [
    'Keyboard only entry of rows',
    'Hands stay on the keys while typing a ledger.\n\n## Who gains\nbookkeeping',
  ],
  ['Dark trays', 'Evening work hurts the eyes.\n\n## Who gains\nnight shift'],
  ['Export to spreadsheet formats', 'Auditors ask for spreadsheets.\n\n## Who gains\naudit'],
  ['Undo for a whole import', 'One click takes a whole import back.\n\n## Who gains\nbookkeeping'],
  [
    'Approvals by a second person',
    'Large rows go live when a second person has seen them.\n\n## Who gains\naudit',
  ],
  ['Comments on a single row', 'People write on paper notes today.\n\n## Who gains\nbookkeeping, audit'],
  ['Search across all ledgers', 'Search covers one ledger at present.\n\n## Who gains\naudit'],
  ['Own colours for departments', 'Each department its colour in the report.\n\n## Who gains\nmanagement'],
  ['A weekly report by mail', 'Management reads mail, not ledgers.\n\n## Who gains\nmanagement'],
  ['Import from the old system', 'Ten years of rows lie in the old system.\n\n## Who gains\naudit'],
  ['Row limits per person', 'New people start with small rows.\n\n## Who gains\nmanagement'],
];

const questions: [string, string][] = [
  ['Meaning of the grey tray', 'The handbook names green and amber. Grey?\n\nRegards, front desk'],
  ['Closing a ledger', 'Our clerk is away. Can the front desk close it?\n\nRegards, front desk'],
  ['Folder of old reports', 'Reports of last year: in which folder?\n\nRegards, archive'],
  ['Is there a limit for attachments', 'A scan of 40 pages does not fit, or does it?\n\nRegards, archive'],
  ['Difference of draft and open', 'Draft, open: both can be edited?\n\nRegards, front desk'],
  ['Which rows count for the yearly sum', 'Drafts too?\n\nRegards, archive'],
  ['Changing the name of a department', 'We are now called Records. Where is that set?\n\nRegards, records'],
  ['Two ledgers with one number', 'Allowed or not?\n\nRegards, records'],
  ['Order of columns on paper', 'Can it be other than on screen?\n\nRegards, front desk'],
  ['Access for a trainee', 'She starts on Monday, what is needed?\n\nRegards, records'],
  ['Meaning of the star in the report', 'Some sums carry a star?\n\nRegards, archive'],
  ['Opening a ledger of another department', 'Is that seen by them?\n\nRegards, front desk'],
];

/** The kinds alternate, so that any range is balanced. */
export const sampleIssues: readonly Example[] = bugs.flatMap((_, i) => [
  example('bug', bugs[i]),
  example('feature', features[i]),
  example('question', questions[i]),
]);

function example(kind: Example['kind'], [title, description]: [string, string] = ['', '']): Example {
  return { kind, title, description };
}
