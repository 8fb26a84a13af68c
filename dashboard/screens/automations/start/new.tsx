import { useSearch } from '@tanstack/react-router';
import type { Automation, AutomationSuggestion, AutomationTemplate } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useDraft } from '../../../data/drafts.ts';
import { Loading, Screen } from '../../../parts/states.tsx';
import { text } from '../../../text/automations.ts';
import { Adapt } from './adapt.tsx';
import { RuleForm } from '../rule-form.tsx';
import { emptyDraft, isSame, type Draft } from '../rule/rule.ts';
import { draftOfSuggestion, useSuggestion } from './suggestions.tsx';
import { draftOfTemplate, useTemplates } from './templates.tsx';
import { Unsaved } from '../unsaved.tsx';
import { useCreate } from '../use-changes.ts';

export default function NewAutomation(): ReactNode {
  const { template: id, suggestion: at } = useSearch({ from: '/automations/new' });
  const templates = useTemplates(id !== undefined);
  const suggestion = useSuggestion(at);
  const isLoading = (id !== undefined && !templates) || suggestion === undefined;
  const template = templates?.find((one) => one.id === id);
  const initial = initialOf(template, suggestion);
  return (
    <Screen title={text.newAutomation}>
      {isLoading ? (
        <Loading />
      ) : (
        <NewRule
          key={`${id} ${at}`}
          template={template}
          initial={initial}
          start={template || suggestion ? `${id ?? ''} ${initial.name}` : ''}
        />
      )}
    </Screen>
  );
}

function initialOf(
  template: AutomationTemplate | undefined,
  suggestion: AutomationSuggestion | null | undefined,
): Draft {
  if (template) return draftOfTemplate(template);
  return suggestion ? draftOfSuggestion(suggestion) : emptyDraft;
}

interface NewRuleProps {
  readonly template: AutomationTemplate | undefined;
  /** Rule to start with. */
  readonly initial: Draft;
  /** Name of what the rule starts with. Each start has its own draft, so that none replaces another. */
  readonly start: string;
}

function NewRule({ template, initial, start }: NewRuleProps): ReactNode {
  const create = useCreate();
  const [draft, store, forget] = useDraft(`automation new ${start}`, initial);
  const [isRestored, setRestored] = useState(!isSame(draft, initial));
  const change = (next: Draft): void => (isSame(next, initial) ? forget() : store(next));
  const discard = (): void => {
    forget();
    setRestored(false);
  };
  const mode = template && { mode: template.rule.mode as Automation['mode'] };
  return (
    <RuleForm
      draft={draft}
      onChange={change}
      submit={text.create}
      onSubmit={() => create({ ...draft, ...mode }, forget)}
      stored={null}
      start={
        <>
          {isRestored && <Unsaved words={text.restored} onDiscard={discard} />}
          {template && <Adapt template={template} draft={draft} onChange={change} />}
        </>
      }
    />
  );
}
