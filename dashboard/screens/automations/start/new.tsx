import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Automation, AutomationTemplate } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useClient } from '../../../data/provider.tsx';
import { useRetained } from '../../../data/retained.ts';
import { Loading, Screen } from '../../../parts/states.tsx';
import { text } from '../../../text/automations.ts';
import { Adapt } from './adapt.tsx';
import { RuleForm } from '../rule-form.tsx';
import { emptyDraft, type Draft } from '../rule/rule.ts';
import { draftOfSuggestion, useSuggestion } from './suggestions.tsx';
import { draftOfTemplate, useTemplates } from './templates.tsx';
import { refresh } from '../use-changes.ts';

export default function NewAutomation(): ReactNode {
  const { template: id, suggestion: at } = useSearch({ from: '/automations/new' });
  const templates = useTemplates(id !== undefined);
  const suggestion = useSuggestion(at);
  const isLoading = (id !== undefined && !templates) || suggestion === undefined;
  return (
    <Screen title={text.newAutomation}>
      {isLoading ? (
        <Loading />
      ) : (
        <NewRule
          key={`${id} ${at}`}
          template={templates?.find((one) => one.id === id)}
          initial={suggestion ? draftOfSuggestion(suggestion) : emptyDraft}
        />
      )}
    </Screen>
  );
}

interface NewRuleProps {
  readonly template: AutomationTemplate | undefined;
  /** Rule to start with, without a template. */
  readonly initial: Draft;
}

function NewRule({ template, initial }: NewRuleProps): ReactNode {
  const client = useClient();
  const navigate = useNavigate();
  const [draft, setDraft] = useRetained('new', template ? draftOfTemplate(template) : initial);
  const create = async (): Promise<void> => {
    const { id } = await client.automations.create({
      ...draft,
      ...(template && { mode: template.rule.mode as Automation['mode'] }),
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
