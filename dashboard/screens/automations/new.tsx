import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { useRetained } from '../../data/retained.ts';
import { Loading, Screen } from '../../parts/states.tsx';
import { text } from '../../text/automations.ts';
import { Adapt } from './adapt.tsx';
import { RuleForm } from './rule-form.tsx';
import { emptyDraft } from './rule/rule.ts';
import { draftOfTemplate, useTemplates, type Template } from './templates.tsx';
import { refresh } from './use-changes.ts';

export default function NewAutomation(): ReactNode {
  const { template: id } = useSearch({ from: '/automations/new' });
  const templates = useTemplates();
  const template = templates?.find((one) => one.id === id);
  const isLoading = id !== undefined && !templates;
  return (
    <Screen title={text.newAutomation}>
      {isLoading ? <Loading /> : <NewRule key={id} template={template} />}
    </Screen>
  );
}

function NewRule({ template }: { readonly template: Template | undefined }): ReactNode {
  const client = useClient();
  const navigate = useNavigate();
  const [draft, setDraft] = useRetained('new', template ? draftOfTemplate(template) : emptyDraft);
  const create = async (): Promise<void> => {
    const { id } = await client.automations.create({
      ...draft,
      ...(template && { mode: template.rule.mode }),
    });
    await refresh();
    void navigate({ to: '/automations/$id', params: { id } });
  };
  return (
    <RuleForm
      draft={draft}
      onChange={setDraft}
      submit={text.create}
      onSubmit={create}
      stored={null}
      start={template && <Adapt template={template} draft={draft} onChange={setDraft} />}
    />
  );
}
