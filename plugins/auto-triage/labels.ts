// Labels that name a kind (bug, feature, question), matched case-insensitively.
import { issueTypes, type IssueType } from './model/kind.ts';

type LabelName = { readonly name: string };

/** Returns the kinds among the labels; several if people set several. */
export function issueTypesOf(labels: readonly LabelName[]): IssueType[] {
  return issueTypes.filter((kind) => labels.some(({ name }) => name.trim().toLowerCase() === kind));
}
