// Dialog that lists the issue templates, and creates, changes and deletes them.
import { useQuery } from '@tanstack/react-query';
import type { Template } from '@tatami/sdk/client';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form } from '../../parts/fields.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/create.ts';
import { TemplateForm } from './template-form.tsx';
import { templatesQuery } from './templates-query.ts';

/** Content of the dialog. */
type View =
  | { readonly act: 'list'; readonly isFirst: boolean }
  | { readonly act: 'new' }
  | { readonly act: 'edit' | 'delete'; readonly template: Template };

const back: View = { act: 'list', isFirst: false };

interface TemplatesProps {
  /** Key of the team that a new template is for at first. */
  readonly team: string;
  readonly onClose: () => void;
}

/** One dialog for the list and the forms, so that Escape closes all of it and the focus returns once. */
export default function TemplatesDialog({ team, onClose }: TemplatesProps): ReactNode {
  const [view, setView] = useState<View>({ act: 'list', isFirst: true });
  // A focused input takes the focus before the dialog can note who had it.
  const finalFocus = useRef(document.activeElement as HTMLElement | null);
  const done = async (): Promise<void> => {
    await queryClient.invalidateQueries({ queryKey: ['templates'] });
  };
  return (
    <Dialog title={titleOf(view)} isOpen onClose={onClose} finalFocus={finalFocus}>
      {view.act === 'list' && <List isFirst={view.isFirst} onView={setView} onClose={onClose} />}
      {(view.act === 'new' || view.act === 'edit') && (
        <TemplateForm
          template={view.act === 'edit' ? view.template : null}
          team={team}
          onSaved={done}
          onDone={() => setView(back)}
        />
      )}
      {view.act === 'delete' && (
        <DeleteForm template={view.template} onDeleted={done} onDone={() => setView(back)} />
      )}
    </Dialog>
  );
}

function titleOf(view: View): string {
  if (view.act === 'list') return text.templates;
  if (view.act === 'new') return text.newTemplate;
  const { name } = view.template;
  return view.act === 'edit' ? text.editTemplate(name) : text.deleteTemplate(name);
}

interface ListProps {
  readonly isFirst: boolean;
  readonly onView: (view: View) => void;
  readonly onClose: () => void;
}

function List({ isFirst, onView, onClose }: ListProps): ReactNode {
  const { data } = useQuery(templatesQuery(useClient()));
  return (
    <>
      {data?.length === 0 && <p className="soft">{text.noTemplates}</p>}
      <ul aria-label={text.templates}>
        {data?.map((template) => (
          <li key={template.id} className="row wrap">
            <span className="grow cut">{template.name}</span>
            <span className="soft">{template.team ?? text.allTeams}</span>
            <Button
              look="plain"
              aria-label={text.editTemplate(template.name)}
              onClick={() => onView({ act: 'edit', template })}
            >
              {common.edit}
            </Button>
            <Button
              look="plain"
              aria-label={text.deleteTemplate(template.name)}
              onClick={() => onView({ act: 'delete', template })}
            >
              {common.delete}
            </Button>
          </li>
        ))}
      </ul>
      <div className="row">
        <Button look="primary" autoFocus={!isFirst} onClick={() => onView({ act: 'new' })}>
          {text.newTemplate}
        </Button>
        <Button onClick={onClose}>{common.close}</Button>
      </div>
    </>
  );
}

interface DeleteProps {
  readonly template: Template;
  readonly onDeleted: () => Promise<void>;
  readonly onDone: () => void;
}

function DeleteForm({ template, onDeleted, onDone }: DeleteProps): ReactNode {
  const client = useClient();
  const hint = useRef<HTMLParagraphElement>(null);
  // The button that led here is gone.
  useEffect(() => hint.current?.focus(), []);
  const remove = async (): Promise<void> => {
    await client.templates.delete(template.id);
    await onDeleted();
  };
  return (
    <Form submit={common.delete} onSubmit={remove} onDone={onDone}>
      <p ref={hint} tabIndex={-1}>
        {text.deleteTemplateHint}
      </p>
    </Form>
  );
}
