// Labels that name a kind (bug, feature, question), in any case.
import { issueKinds, type Kind } from './model/kind.ts';

type Named = { readonly name: string };

/** Returns the kinds among the labels; several if people set several. */
export function kindsOf(labels: readonly Named[]): Kind[] {
  return issueKinds.filter((kind) => labels.some(({ name }) => name.trim().toLowerCase() === kind));
}
