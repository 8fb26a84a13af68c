import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Issue, Relation } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { SelectField } from '../../parts/fields.tsx';
import { Icon } from '../../parts/icon.tsx';
import { IssueDialog } from '../../parts/issue/issue-dialog.tsx';
import { StateIcon } from '../../parts/issue/symbols.tsx';
import { text } from '../../text/issue.ts';

export function Relations({ issue }: { readonly issue: Issue }): ReactNode {
  const client = useClient();
  const write = useWrite();
  const [isOpen, setOpen] = useState(false);
  const [type, setType] = useState<Relation['type']>('relates_to');
  const key = ['issues', 'relations', issue.id];
  const { data = [] } = useQuery({
    queryKey: key,
    queryFn: () => Array.fromAsync(client.relations.list(issue.id, { limit: 100 })),
  });
  const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: key });
  const add = async (issueId: string): Promise<void> => {
    if (await write((api) => api.relations.create(issue.id, { type, issueId }))) setOpen(false);
    await refresh();
  };
  const remove = async (id: string): Promise<void> => {
    await write((api) => api.relations.delete(id));
    await refresh();
  };
  return (
    <section className="stack">
      <div className="row">
        <h2 className="grow">{text.relations}</h2>
        <Button look="plain" onClick={() => setOpen(true)}>
          {text.addRelation}
        </Button>
      </div>
      <ul aria-label={text.relations}>
        {data.map((relation) => (
          <RelationRow key={relation.id} relation={relation} onRemove={() => void remove(relation.id)} />
        ))}
      </ul>
      {isOpen && (
        <IssueDialog
          label={text.addRelation}
          excluded={[issue.id]}
          onPick={({ id }) => void add(id)}
          onClose={() => setOpen(false)}
        >
          <SelectField
            label={text.relationType}
            value={type}
            options={Object.entries(text.relationTypes)}
            onPick={(picked) => setType(picked as Relation['type'])}
          />
        </IssueDialog>
      )}
    </section>
  );
}

interface RelationRowProps {
  readonly relation: Relation;
  readonly onRemove: () => void;
}

function RelationRow({ relation: { type, issue }, onRemove }: RelationRowProps): ReactNode {
  const name = issue.identifier ?? issue.id;
  return (
    <li className="row">
      <span className="soft">{text.relationTypes[type]}</span>
      <StateIcon type={issue.state.type} name={issue.state.name} />
      <Link className="grow cut" to="/issues/$identifier" params={{ identifier: name }}>
        {name} {issue.title}
      </Link>
      <Button look="plain" isIcon aria-label={text.removeRelation(name)} onClick={onRemove}>
        <Icon name="close" />
      </Button>
    </li>
  );
}
