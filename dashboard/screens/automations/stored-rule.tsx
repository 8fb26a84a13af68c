// Rule of a stored automation in the editor, with the changes that are not saved.
import { useNavigate } from '@tanstack/react-router';
import { ApiCallError, type Automation, type Client } from '@tatami/sdk/client';
import { useEffect, useRef, useState, type MouseEvent, type ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { Screen } from '../../parts/states.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/automations.ts';
import { Address } from './address.tsx';
import { RuleForm } from './rule-form.tsx';
import { changesOf, draftOf, isSame, type Draft } from './rule/rule.ts';
import { isOnProbation } from './status.ts';
import { focusAfter, Unsaved } from './unsaved.tsx';
import { refresh, useCreate } from './use-changes.ts';
import type { Edit, Editing } from './use-edit.ts';

interface StoredRuleProps {
  readonly automation: Automation;
  readonly editing: Editing;
}

/** Returns a function that says that a rule was saved, and that its next runs need approval. */
function useSavedNote(): (saved: Automation) => void {
  const navigate = useNavigate();
  return ({ id, probation, ...automation }) => {
    if (!probation || !isOnProbation({ probation, ...automation })) return notify(text.saved);
    const run = (): void => void navigate({ to: '/proposals', search: { install: id } });
    notify(text.savedOnProbation(probation.runsLeft), { label: text.proposals, run });
  };
}

export function StoredRule({ automation, editing }: StoredRuleProps): ReactNode {
  const client = useClient();
  const write = useWrite();
  const noteSaved = useSavedNote();
  const { edit } = editing;
  const [isRestored, setRestored] = useState(edit !== null);
  const stored = draftOf(automation);
  const current = edit ?? { base: stored, version: automation.version, draft: stored };
  const { draft } = current;
  const latest = useRef(draft);
  useEffect(() => {
    latest.current = draft;
  });
  // The event of the own change may arrive before the answer.
  const [isSaving, setSaving] = useState(false);
  const isConflict = !isSaving && isContended(current, stored);
  const discard = (): void => {
    editing.discard();
    setRestored(false);
  };
  const store = async (saving: Promise<Automation | null>): Promise<Automation | null> => {
    setSaving(true);
    const saved = await saving.finally(() => setSaving(false));
    if (!saved) return null;
    queryClient.setQueryData(['automations', automation.id], saved);
    if (isSame(latest.current, draft)) discard();
    else editing.continueFrom(saved, latest.current);
    noteSaved(saved);
    await refresh();
    return saved;
  };
  const save = (): Promise<Automation | null> => store(saveEdit(client, automation, current));
  const saveAnyway = async (): Promise<void> => {
    const { version } = automation;
    await store(write((api) => api.automations.update(automation.id, draft, { ifVersion: version })));
  };
  return (
    <>
      {stored.trigger.type === 'webhook' && <Address id={automation.id} />}
      <RuleForm
        draft={draft}
        onChange={(next) => editing.change(automation, next)}
        submit={common.save}
        onSubmit={save}
        stored={{ rule: stored, backtest: automation.backtest?.id ?? null }}
        start={edit && isRestored && <Unsaved words={text.restored} onDiscard={discard} />}
      >
        {isConflict && <Conflict onLoad={discard} onSave={() => void saveAnyway()} />}
        {edit && !isConflict && <Unsaved words={text.unsaved} onDiscard={discard} />}
      </RuleForm>
    </>
  );
}

const isContended = ({ base, draft }: Edit, stored: Draft): boolean =>
  !isSame(base, stored) && !isSame(draft, stored);

/** Each attempt follows a change of another part, such as the state, by somebody else. */
const attemptsMax = 5;

/**
 * Saves the changes if nobody else has changed the rule since they began.
 * @returns null for a rule that somebody else changed, which the cache then has
 */
async function saveEdit(
  client: Client,
  { id }: Automation,
  { base, version, draft }: Edit,
): Promise<Automation | null> {
  let ifVersion = version;
  for (let attempt = 1; ; attempt++) {
    try {
      return await client.automations.update(id, changesOf(base, draft), { ifVersion });
    } catch (error) {
      const isStale = error instanceof ApiCallError && error.code === 'precondition_failed';
      if (!isStale || attempt === attemptsMax) throw error;
      const current = await client.automations.get(id);
      queryClient.setQueryData(['automations', id], current);
      if (isSame(draftOf(current), draft)) return current;
      if (!isSame(draftOf(current), base)) return null;
      ifVersion = current.version;
    }
  }
}

interface ConflictProps {
  readonly onLoad: () => void;
  readonly onSave: () => void;
}

function Conflict({ onLoad, onSave }: ConflictProps): ReactNode {
  const leaving =
    (act: () => void) =>
    ({ currentTarget }: MouseEvent<HTMLButtonElement>): void => {
      focusAfter(currentTarget);
      act();
    };
  return (
    <div className="notice warning stack" role="alert">
      <p>{text.conflict}</p>
      <div className="row wrap">
        <Button onClick={leaving(onLoad)}>{text.loadTheirs}</Button>
        <Button onClick={leaving(onSave)}>{text.saveAnyway}</Button>
      </div>
    </div>
  );
}

interface DeletedRuleProps {
  readonly edit: Edit;
  readonly editing: Editing;
}

/** Changes of an automation that somebody deleted meanwhile. They can become a new one. */
export function DeletedRule({ edit: { draft }, editing }: DeletedRuleProps): ReactNode {
  const navigate = useNavigate();
  const create = useCreate();
  const discard = (): void => {
    editing.discard();
    void navigate({ to: '/automations' });
  };
  return (
    <Screen title={draft.name}>
      <RuleForm
        draft={draft}
        onChange={editing.changeDeleted}
        submit={text.create}
        onSubmit={() => create(draft, editing.discard)}
        stored={null}
        start={<Unsaved words={text.deletedMeanwhile} onDiscard={discard} />}
      />
    </Screen>
  );
}
