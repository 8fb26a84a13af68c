// Operations of boards and views beyond the plain ones.
import type { Setting } from './all.ts';

export async function boardOperations({ app, did, issue }: Setting): Promise<void> {
  const v1 = '/api/v1';
  const { json: board } = await app.call('POST', `${v1}/boards`, { name: 'Documentation', team: 'DOC' });
  await did('boards.cards', `${v1}/boards/${board.id}/cards`);
  await did('boards.column-cards', `${v1}/boards/${board.id}/columns/Todo/cards`);
  const to = { issueId: issue.id, column: 'Todo', position: 'bottom' };
  await did('boards.move', `${v1}/boards/${board.id}/move`, to);
  await did('boards.move', `${v1}/boards/${board.id}/move`, { ...to, column: 'Backlog' });
  await did('issues.board', `${v1}/issues/board?groupBy=assignee&swimlanes=priority&perColumn=1`);
  await did('issues.board-column', `${v1}/issues/board/columns/Todo/cards?team=DOC`);
  const pressing = { name: 'Pressing', filter: { priority: ['high', 'urgent'] }, visibility: 'shared' };
  const { json: view } = await app.call('POST', `${v1}/views`, pressing);
  await did('views.issues', `${v1}/views/${view.id}/issues`);
}
