import { useState, type ReactNode } from 'react';
import { useSession } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { buttonClass } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Form, SelectField, TextField, textOf } from '../../parts/fields.tsx';
import { Screen } from '../../parts/states.tsx';
import { text } from '../../text/welcome.ts';
import { CreateButton } from '../create/create.tsx';

export default function Welcome(): ReactNode {
  const { workspace } = useSession();
  return (
    <Screen title={text.title} heading={text.heading(workspace.name)}>
      <div className="stack">
        <p>{text.intro}</p>
        <section className="card stack">
          <h2>{text.issue}</h2>
          <p className="soft">{text.issueHint}</p>
          <div>
            <CreateButton />
          </div>
        </section>
        <Invite />
        <section className="card stack">
          <h2>{text.plugin}</h2>
          <p className="soft">{text.pluginHint}</p>
          <Copy value={text.pluginCommand(location.origin)} />
          <div>
            <a className={buttonClass()} href="/docs/plugins">
              {text.pluginDocs}
            </a>
          </div>
        </section>
      </div>
    </Screen>
  );
}

type Role = keyof typeof text.roles;

function Invite(): ReactNode {
  const write = useWrite();
  const [role, setRole] = useState<Role>('member');
  const [invited, setInvited] = useState<{ readonly name: string; readonly url: string } | null>(null);
  const invite = async (fields: FormData): Promise<unknown> => {
    const name = textOf(fields, 'name');
    const made = await write(async (client) => {
      const member = await client.members.create({ name, role });
      return client.members.invite(member.id);
    });
    if (made) setInvited({ name, url: made.url });
    return null;
  };
  return (
    <section className="card stack">
      <h2>{text.invite}</h2>
      <p className="soft">{text.inviteHint}</p>
      {invited ? (
        <>
          <p role="status">{text.invitation(invited.name)}</p>
          <Copy value={invited.url} />
        </>
      ) : (
        <Form submit={text.inviteButton} onSubmit={invite}>
          <TextField label={text.name} name="name" required />
          <SelectField
            label={text.role}
            value={role}
            options={Object.entries(text.roles)}
            onPick={(value) => setRole(value as Role)}
          />
        </Form>
      )}
    </section>
  );
}
