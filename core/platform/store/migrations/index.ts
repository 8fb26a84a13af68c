// Lists the migrations in order; the version of a migration is its position in this list. SQL files are embedded as text.
import spine from './0001-spine.sql' with { type: 'text' };
import fairQueues from './0002-fair-queues.sql' with { type: 'text' };
import pluginValues from './0003-plugin-values.sql' with { type: 'text' };
import recalledAnswers from './0004-recalled-answers.sql' with { type: 'text' };
import runProgress from './0005-run-progress.sql' with { type: 'text' };
import listIndexes from './0006-list-indexes.sql' with { type: 'text' };
import installation from './0007-installation.sql' with { type: 'text' };
import operation from './0008-operation.sql' with { type: 'text' };
import rules from './0009-rules.sql' with { type: 'text' };
import retention from './0010-retention.sql' with { type: 'text' };
import keys from './0011-keys.sql' with { type: 'text' };
import issues from './0012-issues.sql' with { type: 'text' };
import author from './0013-author.sql' with { type: 'text' };
import relations from './0014-relations.sql' with { type: 'text' };
import fields from './0015-fields.sql' with { type: 'text' };
import boards from './0016-boards.sql' with { type: 'text' };
import inbox from './0017-inbox.sql' with { type: 'text' };
import projects from './0018-projects.sql' with { type: 'text' };
import cycles from './0019-cycles.sql' with { type: 'text' };
import sla from './0020-sla.sql' with { type: 'text' };
import search from './0021-search.sql' with { type: 'text' };
import attachments from './0022-attachments.sql' with { type: 'text' };
import timeTravel from './0023-time-travel.sql' with { type: 'text' };
import publicTriage from './0024-public-triage.sql' with { type: 'text' };
import daysAndLists from './0025-days-and-lists.sql' with { type: 'text' };
import handlers from './0026-handlers.sql' with { type: 'text' };
import egress from './0027-egress.sql' with { type: 'text' };
import isolation from './0028-isolation.sql' with { type: 'text' };
import proposals from './0029-proposals.sql' with { type: 'text' };
import installs from './0030-installs.sql' with { type: 'text' };
import recorder from './0031-recorder.sql' with { type: 'text' };
import backtests from './0032-backtests.sql' with { type: 'text' };
import undo from './0033-undo.sql' with { type: 'text' };
import runVersions from './0034-run-versions.sql' with { type: 'text' };
import purgedIssues from './0035-purged-issues.sql' with { type: 'text' };
import people from './0036-people.sql' with { type: 'text' };
import factors from './0037-factors.sql' with { type: 'text' };
import oauth from './0038-oauth.sql' with { type: 'text' };
import grants from './0039-grants.sql' with { type: 'text' };
import guests from './0040-guests.sql' with { type: 'text' };
import agents from './0041-agents.sql' with { type: 'text' };
import keyMinters from './0042-key-minters.sql' with { type: 'text' };
import provenAddresses from './0043-proven-addresses.sql' with { type: 'text' };
import seats from './0044-seats.sql' with { type: 'text' };
import keyLineage from './0045-key-lineage.sql' with { type: 'text' };
import authority from './0046-authority.sql' with { type: 'text' };
import offeredVersions from './0047-offered-versions.sql' with { type: 'text' };
import orderVersions from './0048-order-versions.sql' with { type: 'text' };
import stateTimes from './0049-state-times.sql' with { type: 'text' };
import archivedTeams from './0050-archived-teams.sql' with { type: 'text' };
import replayProgress from './0051-replay-progress.sql' with { type: 'text' };
import foldedLetters from './0052-folded-letters.sql' with { type: 'text' };

export interface Migration {
  name: string;
  sql: string;
}

export const migrations: readonly Migration[] = [
  { name: '0001-spine', sql: spine },
  { name: '0002-fair-queues', sql: fairQueues },
  { name: '0003-plugin-values', sql: pluginValues },
  { name: '0004-recalled-answers', sql: recalledAnswers },
  { name: '0005-run-progress', sql: runProgress },
  { name: '0006-list-indexes', sql: listIndexes },
  { name: '0007-installation', sql: installation },
  { name: '0008-operation', sql: operation },
  { name: '0009-rules', sql: rules },
  { name: '0010-retention', sql: retention },
  { name: '0011-keys', sql: keys },
  { name: '0012-issues', sql: issues },
  { name: '0013-author', sql: author },
  { name: '0014-relations', sql: relations },
  { name: '0015-fields', sql: fields },
  { name: '0016-boards', sql: boards },
  { name: '0017-inbox', sql: inbox },
  { name: '0018-projects', sql: projects },
  { name: '0019-cycles', sql: cycles },
  { name: '0020-sla', sql: sla },
  { name: '0021-search', sql: search },
  { name: '0022-attachments', sql: attachments },
  { name: '0023-time-travel', sql: timeTravel },
  { name: '0024-public-triage', sql: publicTriage },
  { name: '0025-days-and-lists', sql: daysAndLists },
  { name: '0026-handlers', sql: handlers },
  { name: '0027-egress', sql: egress },
  { name: '0028-isolation', sql: isolation },
  { name: '0029-proposals', sql: proposals },
  { name: '0030-installs', sql: installs },
  { name: '0031-recorder', sql: recorder },
  { name: '0032-backtests', sql: backtests },
  { name: '0033-undo', sql: undo },
  { name: '0034-run-versions', sql: runVersions },
  { name: '0035-purged-issues', sql: purgedIssues },
  { name: '0036-people', sql: people },
  { name: '0037-factors', sql: factors },
  { name: '0038-oauth', sql: oauth },
  { name: '0039-grants', sql: grants },
  { name: '0040-guests', sql: guests },
  { name: '0041-agents', sql: agents },
  { name: '0042-key-minters', sql: keyMinters },
  { name: '0043-proven-addresses', sql: provenAddresses },
  { name: '0044-seats', sql: seats },
  { name: '0045-key-lineage', sql: keyLineage },
  { name: '0046-authority', sql: authority },
  { name: '0047-offered-versions', sql: offeredVersions },
  { name: '0048-order-versions', sql: orderVersions },
  { name: '0049-state-times', sql: stateTimes },
  { name: '0050-archived-teams', sql: archivedTeams },
  { name: '0051-replay-progress', sql: replayProgress },
  { name: '0052-folded-letters', sql: foldedLetters },
];
