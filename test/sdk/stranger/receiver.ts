// A receiver, in which the type of an event determines its data.
import { verify, WebhookVerificationError, type WebhookEvent } from '@tatami/sdk/webhooks';

export async function receive(payload: string, header: string, secret: string): Promise<string> {
  try {
    return wordsOf(await verify(payload, header, secret));
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
}

function wordsOf(event: WebhookEvent): string {
  switch (event.type) {
    case 'issue.labeled': {
      const { data } = event;
      if (data.truncated) return `${data.id} is large: ${data.event}`;
      const before: readonly { readonly name: string }[] | undefined = data.previous.labels;
      return `${before?.length} ${data.labels.map(({ name }) => name).join()}`;
    }
    case 'comment.added':
      return event.data.body ?? 'a long comment';
    default:
      return event.type;
  }
}
