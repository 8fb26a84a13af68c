// Uploads a file to an issue. `fetch` reports no progress of an upload, so this uses XMLHttpRequest.
import { text } from '../text/issue.ts';

export interface Upload {
  /** Rejects with the reason for the person. Resolves after a cancellation too. */
  readonly done: Promise<void>;
  cancel(): void;
}

/** @param onProgress receives the percentage that is sent */
export function startUpload(
  token: () => Promise<string>,
  issueId: string,
  file: File,
  onProgress: (percent: number) => void = () => undefined,
): Upload {
  const request = new XMLHttpRequest();
  const send = async (): Promise<void> => {
    const query = new URLSearchParams({ name: file.name });
    request.open(
      'POST',
      `/api/v1/issues/${encodeURIComponent(issueId)}/attachments/upload?${query.toString()}`,
    );
    request.setRequestHeader('authorization', `Bearer ${await token()}`);
    request.setRequestHeader('content-type', file.type === '' ? 'application/octet-stream' : file.type);
    request.setRequestHeader('idempotency-key', crypto.randomUUID());
    request.upload.onprogress = ({ loaded, total }) => onProgress(Math.round((100 * loaded) / total));
    await ended(request, file);
  };
  return { done: send(), cancel: () => request.abort() };
}

function ended(request: XMLHttpRequest, file: File): Promise<void> {
  return new Promise((resolve, reject) => {
    request.onabort = () => resolve();
    request.onload = () => {
      if (request.status < 300) resolve();
      else reject(new Error(problemOf(request.responseText)));
    };
    request.onerror = () => reject(new Error(text.uploadFailed(file.name)));
    request.send(file);
  });
}

function problemOf(body: string): string {
  try {
    return (JSON.parse(body) as { error: { message: string } }).error.message;
  } catch {
    return body;
  }
}
