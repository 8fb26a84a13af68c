// Files of an issue: upload with progress, preview and download.
import { useEffect, useState } from 'react';
import { useApp } from '../../data/provider.tsx';
import { notifyProblem } from '../../parts/toast.tsx';
import { text } from '../../text/issue.ts';

/** Images that run no code. SVG and HTML are downloads only. */
const safeImages: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
]);

export const isSafeImage = (contentType: string): boolean =>
  safeImages.has(contentType.split(';')[0]!.trim());

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

interface FileUrl {
  /** Null until it is known. */
  readonly url: string | null;
  download(name: string): Promise<void>;
}

/** @param isShown true to load the content, for an image */
export function useFileUrl(attachmentId: string, isShown = false): FileUrl {
  const { token } = useApp();
  const [url, setUrl] = useState<string | null>(null);
  const load = async (): Promise<string> => {
    const path = `/api/v1/attachments/${encodeURIComponent(attachmentId)}/content`;
    const response = await fetch(path, { headers: { authorization: `Bearer ${await token()}` } });
    if (!response.ok) throw new Error(problemOf(await response.text()));
    return URL.createObjectURL(await response.blob());
  };
  useEffect(() => {
    if (!isShown) return;
    let made: string | null = null;
    load().then(
      (loaded) => setUrl((made = loaded)),
      () => undefined,
    );
    return () => {
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [attachmentId, isShown]);
  return {
    url,
    async download(name) {
      try {
        const link = document.createElement('a');
        link.href = await load();
        link.download = name;
        link.click();
        URL.revokeObjectURL(link.href);
      } catch (error) {
        notifyProblem(error);
      }
    },
  };
}
