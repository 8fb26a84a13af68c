// Images that are attached to an issue: in its list of attachments, and in its texts.
import type { Attachment, Issue } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { OwnImages, type ImageOf } from '../../parts/markdown/own-images.ts';
import { isImage, useAttachments, useFileUrl } from './files.ts';

interface FileImageProps {
  /** Id of the attachment. */
  readonly id: string;
  readonly name: string;
  readonly className?: string | undefined;
  /** Shown until the image loads, and in place of one that does not. */
  readonly otherwise: ReactNode;
}

export function FileImage({ id, name, className, otherwise }: FileImageProps): ReactNode {
  const { url, renew } = useFileUrl(id);
  const [isBroken, setBroken] = useState(false);
  if (url === null || isBroken) return otherwise;
  // The URL may have expired before the image came into view. Another URL within a minute is the same one.
  const retry = async (): Promise<void> => setBroken((await renew()) === url);
  return <img className={className} src={url} alt={name} loading="lazy" onError={() => void retry()} />;
}

const pathOf = (id: string): string => `/api/v1/attachments/${id}/content`;
const contentPath = /^\/api\/v1\/attachments\/(att_\w+)\/content$/;

/** Returns Markdown that shows an attached image in a text of its issue. */
export const markdownOf = ({ id, title }: Pick<Attachment, 'id' | 'title'>): string =>
  `![${title.replace(/[\\[\]]/g, '\\$&')}](${pathOf(id)})`;

/** @param origins of this server */
export function attachmentIn(src: string, origins: readonly string[]): string | null {
  const url = URL.parse(src, origins[0]);
  return url && origins.includes(url.origin) ? (contentPath.exec(url.pathname)?.[1] ?? null) : null;
}

interface IssueImagesProps {
  readonly issue: Issue;
  readonly children: ReactNode;
}

/** Shows the attached images of an issue in its texts. Images of other issues do not show there, because readers may not see these. */
export function IssueImages({ issue, children }: IssueImagesProps): ReactNode {
  const { attachments } = useAttachments(issue.id);
  const ids = new Set(attachments.filter(isImage).map(({ id }) => id));
  const origins = [location.origin, URL.parse(issue.url ?? '')?.origin ?? location.origin];
  const imageOf: ImageOf = (src, name) => {
    const id = attachmentIn(src, origins);
    return id !== null && ids.has(id) ? <FileImage id={id} name={name} otherwise={name} /> : null;
  };
  return <OwnImages value={imageOf}>{children}</OwnImages>;
}
