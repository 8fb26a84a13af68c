// Templates of automations, from which a person starts.
import { useQuery } from '@tanstack/react-query';
import type { AutomationTemplate as Template } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../../data/provider.tsx';
import { Button, LinkButton } from '../../../parts/button.tsx';
import { text } from '../../../text/automations.ts';
import styles from '../automations.module.css';
import { ruleOf, type Draft } from '../rule/rule.ts';

/** @returns undefined while the templates load */
export function useTemplates(isUsed = true): readonly Template[] | undefined {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['automation-templates'],
    enabled: isUsed,
    queryFn: async () => (await client.automations.templates()).data,
  });
  return data;
}

export const draftOfTemplate = ({ name, description, rule }: Template): Draft => ({
  name,
  description,
  ...ruleOf(rule),
});

/** Templates that most teams can use, which are shown first. */
const featured = [
  'priority-by-keyword',
  'route-by-label',
  'on-call-round-robin',
  'close-parent',
  'stale-warning',
  'sla-escalation',
];

const rankOf = ({ id }: Template): number => (featured.includes(id) ? featured.indexOf(id) : featured.length);

export function Templates({ isFirst }: { readonly isFirst: boolean }): ReactNode {
  const templates = useTemplates();
  const [isWhole, setWhole] = useState(false);
  // A list that arrives later must not close what a person has opened.
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOpen = chosen ?? isFirst;
  if (!templates || templates.length === 0) return null;
  const ordered = templates.toSorted((a, b) => rankOf(a) - rankOf(b));
  return (
    <details open={isOpen} className={styles.gallery}>
      <summary
        onClick={(event) => {
          event.preventDefault();
          setChosen(!isOpen);
        }}
      >
        {text.templates}
      </summary>
      <div className="stack">
        <ul className={styles.templates} aria-label={text.templates}>
          {ordered.slice(0, isWhole ? ordered.length : featured.length).map((template) => (
            <TemplateCard key={template.id} template={template} />
          ))}
        </ul>
        {!isWhole && ordered.length > featured.length && (
          <div>
            <Button onClick={() => setWhole(true)}>{text.allTemplates(ordered.length)}</Button>
          </div>
        )}
      </div>
    </details>
  );
}

function TemplateCard({ template: { id, name, description } }: { readonly template: Template }): ReactNode {
  return (
    <li className="card stack">
      <h3>{name}</h3>
      <p className="soft">{description}</p>
      <div>
        <LinkButton to="/automations/new" search={{ template: id }} aria-label={text.useTemplate(name)}>
          {text.use}
        </LinkButton>
      </div>
    </li>
  );
}
