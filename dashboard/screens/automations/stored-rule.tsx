// Rule of a stored automation in the editor, with the changes that are not saved.
import { useNavigate } from '@tanstack/react-router';
import type { Automation } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { Screen } from '../../parts/states.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/automations.ts';
import { Address } from './address.tsx';
import { RuleForm } from './rule-form.tsx';
import { changesOf, draftOf } from './rule/rule.ts';
import { Unsaved } from './unsaved.tsx';
import { refresh, useCreate } from './use-changes.ts';
import type { Edit, Editing } from './use-edit.ts';

interface StoredRuleProps {
  readonly automation: Automation;
  readonly editing: Editing;
}

export function StoredRule({ automation, editing }: StoredRuleProps): ReactNode {
  const client = useClient();
  const { edit } = editing;
  const [isRestored, setRestored] = useState(edit !== null);
  const stored = draftOf(automation);
  const { base, draft } = edit ?? { base: stored, draft: stored };
  const discard = (): void => {
    editing.discard();
    setRestored(false);
  };
  const save = async (): Promise<void> => {
    const saved = await client.automations.update(automation.id, changesOf(base, draft));
    queryClient.setQueryData(['automations', automation.id], saved);
    discard();
    notify(text.saved);
    await refresh();
  };
  return (
    <>
      {stored.trigger.type === 'webhook' && <Address id={automation.id} />}
      <RuleForm
        draft={draft}
        onChange={(next) => editing.change(automation, next)}
        submit={common.save}
        onSubmit={save}
        stored={automation.backtest && { rule: stored, id: automation.backtest.id }}
        start={edit && isRestored && <Unsaved words={text.restored} onDiscard={discard} />}
      >
        {edit && <Unsaved words={text.unsaved} onDiscard={discard} />}
      </RuleForm>
    </>
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
