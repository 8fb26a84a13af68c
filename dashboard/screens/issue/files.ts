// Files of an issue: list, upload with progress, signed URL and download.
import { useQuery } from '@tanstack/react-query';
import type { Attachment, Client } from '@tatami/sdk/client';
import { useState } from 'react';
import { queryClient, useApp, useClient } from '../../data/provider.tsx';
import { notifyProblem } from '../../parts/toast.tsx';
import { text } from '../../text/issue.ts';

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

/** `fetch` reports no progress of an upload, so uploads use XMLHttpRequest. */
export function useUploads(issueId: string, onDone: () => void): Uploads {
  const { token } = useApp();
  const [running, setRunning] = useState<readonly (Upload & { readonly request: XMLHttpRequest })[]>([]);
  const send = async (file: File): Promise<void> => {
    const id = nextId++;
    const request = new XMLHttpRequest();
    const end = (): void => setRunning((before) => before.filter((one) => one.id !== id));
    request.upload.onprogress = ({ loaded, total }) => {
      const percent = Math.round((100 * loaded) / total);
      setRunning((before) => before.map((one) => (one.id === id ? { ...one, percent } : one)));
    };
    let isCanceled = false;
    request.onabort = () => (isCanceled = true);
    request.onloadend = () => {
      end();
      if (request.status >= 200 && request.status < 300) onDone();
      else if (request.status !== 0) notifyProblem(new Error(problemOf(request.responseText)));
      else if (!isCanceled) notifyProblem(new Error(text.uploadFailed(file.name)));
    };
    setRunning((before) => [...before, { id, name: file.name, percent: 0, request }]);
    const query = new URLSearchParams({ name: file.name });
    request.open(
      'POST',
      `/api/v1/issues/${encodeURIComponent(issueId)}/attachments/upload?${query.toString()}`,
    );
    request.setRequestHeader('authorization', `Bearer ${await token()}`);
    request.setRequestHeader('content-type', file.type === '' ? 'application/octet-stream' : file.type);
    request.setRequestHeader('idempotency-key', crypto.randomUUID());
    request.send(file);
  };
  return {
    uploads: running,
    upload: (files) => {
      for (const file of files) void send(file);
    },
    cancel: (id) => running.find((one) => one.id === id)?.request.abort(),
  };
}

function problemOf(body: string): string {
  try {
    return (JSON.parse(body) as { error: { message: string } }).error.message;
  } catch {
    return body;
  }
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
