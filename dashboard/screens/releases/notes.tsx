import type { Release } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { TextArea } from '../../parts/fields.tsx';
import { text } from '../../text/planning.ts';

/** Notes of a release as Markdown source, drafted from its issues on request. */
export function Notes({ release: { id, notes } }: { readonly release: Release }): ReactNode {
  const [value, setValue] = useState(notes);
  const write = useWrite();
  const draft = async (): Promise<void> => {
    const drafted = await write((client) => client.releases.notes.draft(id));
    if (drafted) setValue(drafted.notes);
  };
  return (
    <section className="stack">
      <TextArea label={text.notes} value={value} onChange={({ target }) => setValue(target.value)} rows={8} />
      <div className="row">
        <Button
          disabled={value === notes}
          onClick={() => void write((client) => client.releases.update(id, { notes: value }), text.saved)}
        >
          {text.saveNotes}
        </Button>
        <Button onClick={() => void draft()}>{text.draftNotes}</Button>
      </div>
    </section>
  );
}
