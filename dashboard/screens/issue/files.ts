// Files of an issue: list, upload with progress, signed URL and download.
import { useQuery } from '@tanstack/react-query';
import type { Attachment, Client } from '@tatami/sdk/client';
import { useState } from 'react';
import { queryClient, useApp, useClient } from '../../data/provider.tsx';
import { startUpload, type Upload as Started } from '../../data/uploads.ts';
import { notifyProblem } from '../../parts/overlay/toast.tsx';

/** Types of the images that the server shows if their bytes are those of an image. */
const safeImages: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
]);

export const isImage = ({ contentType }: Pick<Attachment, 'contentType'>): boolean =>
  contentType !== null && safeImages.has(contentType);

interface Upload {
  readonly id: number;
  readonly name: string;
  readonly percent: number;
}

interface Uploads {
  readonly uploads: readonly Upload[];
  upload(files: readonly File[]): void;
  cancel(id: number): void;
}

let nextId = 1;

export function useUploads(issueId: string, onDone: () => void): Uploads {
  const { token } = useApp();
  const [running, setRunning] = useState<readonly (Upload & Pick<Started, 'cancel'>)[]>([]);
  const start = (file: File): void => {
    const id = nextId++;
    const { done, cancel } = startUpload(token, issueId, file, (percent) =>
      setRunning((before) => before.map((one) => (one.id === id ? { ...one, percent } : one))),
    );
    setRunning((before) => [...before, { id, name: file.name, percent: 0, cancel }]);
    void done
      .then(onDone, notifyProblem)
      .finally(() => setRunning((before) => before.filter((one) => one.id !== id)));
  };
  return {
    uploads: running,
    upload: (files) => files.forEach(start),
    cancel: (id) => running.find((one) => one.id === id)?.cancel(),
  };
}

export interface FileUrl {
  /** Null until it is known, and if the request for it fails. */
  readonly url: string | null;
  /** Requests a new URL and returns it. */
  renew(): Promise<string | null>;
}

/** A URL expires after five minutes at most, and at least four. */
const currentMs = 3 * 60_000;

/** Returns the URL of a file, for an image. */
export function useFileUrl(attachmentId: string): FileUrl {
  const client = useClient();
  const { data = null, refetch } = useQuery({
    queryKey: ['attachments', 'url', attachmentId],
    queryFn: () => fileUrlOf(client, attachmentId),
    staleTime: currentMs,
    gcTime: currentMs,
  });
  return { url: data, renew: async () => (await refetch()).data ?? null };
}

/** Returns the path of the signed URL: this page may have another address of the server than the URLs of the API. */
async function fileUrlOf(client: Client, attachmentId: string): Promise<string> {
  return new URL((await client.attachments.url(attachmentId)).url).pathname;
}

export async function download(client: Client, { id, title }: Attachment): Promise<void> {
  try {
    const link = document.createElement('a');
    link.href = await fileUrlOf(client, id);
    link.download = title;
    link.click();
  } catch (error) {
    notifyProblem(error);
  }
}

/** Returns the attachments of an issue, and a function that reads them again. */
export function useAttachments(issueId: string): {
  readonly attachments: readonly Attachment[];
  refresh(): Promise<void>;
} {
  const client = useClient();
  const queryKey = ['issues', 'attachments', issueId];
  const { data = none } = useQuery({
    queryKey,
    queryFn: ({ signal }) => Array.fromAsync(client.attachments.list(issueId, { limit: 100 }, { signal })),
    meta: { follows: [issueId] },
  });
  return { attachments: data, refresh: () => queryClient.invalidateQueries({ queryKey }) };
}

const none: readonly Attachment[] = [];
