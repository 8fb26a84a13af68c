import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { useRetained } from '../../data/retained.ts';
import { Loading, Screen } from '../../parts/states.tsx';
import { text } from '../../text/automations.ts';
import { RuleForm } from './rule-form.tsx';
import { emptyDraft, type Draft } from './rule/rule.ts';
import { draftOfTemplate, useTemplates } from './templates.tsx';
import { refresh } from './use-changes.ts';

export default function NewAutomation(): ReactNode {
  const { template: id } = useSearch({ from: '/automations/new' });
  const templates = useTemplates();
  const template = templates?.find((one) => one.id === id);
  const isLoading = id !== undefined && !templates;
  return (
    <Screen title={text.newAutomation}>
      {isLoading ? (
        <Loading />
      ) : (
        <NewRule key={id} initial={template ? draftOfTemplate(template) : emptyDraft} />
      )}
    </Screen>
  );
}

function NewRule({ initial }: { readonly initial: Draft }): ReactNode {
  const client = useClient();
  const navigate = useNavigate();
  const [draft, setDraft] = useRetained('new', initial);
  const create = async (): Promise<void> => {
    const { id } = await client.automations.create(draft);
    await refresh();
    void navigate({ to: '/automations/$id', params: { id } });
  };
  return <RuleForm draft={draft} onChange={setDraft} submit={text.create} onSubmit={create} stored={null} />;
}
