// Loading, empty and error states, and the frame of a screen.
import { ApiCallError } from '@tatami/sdk/client';
import { useEffect, type ReactNode } from 'react';
import { confirmSignIn } from '../data/client.ts';
import { text } from '../text/common.ts';
import { Button, buttonClass } from './button.tsx';
import styles from './parts.module.css';

interface ScreenProps {
  readonly title: string;
  /** Shown instead of the title. */
  readonly heading?: ReactNode;
  /** Beside the title: buttons of the screen. */
  readonly actions?: ReactNode;
  /** Rows below the title, such as filters. */
  readonly bars?: ReactNode;
  /** True if the content scrolls itself, such as a virtual list. */
  readonly scrollsItself?: boolean;
  readonly children: ReactNode;
}

export function Screen({
  title,
  heading,
  actions,
  bars,
  scrollsItself = false,
  children,
}: ScreenProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · ${text.product}`;
  }, [title]);
  return (
    <div className={styles.screen}>
      <header className={styles.bar}>
        <h1 className="grow cut">{heading ?? title}</h1>
        {actions}
      </header>
      {bars}
      {scrollsItself ? children : <div className={styles.content}>{children}</div>}
    </div>
  );
}

/** Row of controls below the title of a screen. */
export function Bar({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className={styles.bar} role="group" aria-label={label}>
      {children}
    </div>
  );
}

export function Loading(): ReactNode {
  return (
    <p className={`${styles.message} soft`} role="status">
      {text.loading}
    </p>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly hint?: ReactNode;
  readonly action?: ReactNode;
}

export function Empty({ title, hint, action }: EmptyProps): ReactNode {
  return (
    <div className={styles.message}>
      <h2>{title}</h2>
      {hint !== undefined && <p className="soft">{hint}</p>}
      {action}
    </div>
  );
}

interface FailedProps {
  /** Null for an unknown path. */
  readonly error: unknown;
  readonly retry?: () => void;
}

/** Explains a failed request. Unknown objects and those of others look the same. */
export function Failed(props: FailedProps): ReactNode {
  return (
    <div className={styles.message} role={isMissing(props.error) ? undefined : 'alert'}>
      <h2>{titleOf(props.error)}</h2>
      <Explanation {...props} />
    </div>
  );
}

/** Explains a failed request instead of a screen. */
export function FailedScreen(props: FailedProps): ReactNode {
  return (
    <Screen title={titleOf(props.error)}>
      <div className={styles.message} role={isMissing(props.error) ? undefined : 'alert'}>
        <Explanation {...props} />
      </div>
    </Screen>
  );
}

const isMissing = (error: unknown): boolean =>
  error === null || (error instanceof ApiCallError && error.status === 404);

const isStale = (error: unknown): boolean =>
  error instanceof ApiCallError && error.code === 'recent_sign_in_required';

function titleOf(error: unknown): string {
  if (isMissing(error)) return text.notFound;
  return isStale(error) ? text.confirmSignIn : text.somethingFailed;
}

function Explanation({ error, retry }: FailedProps): ReactNode {
  if (isMissing(error))
    return (
      <>
        <p className="soft">{text.notFoundHint}</p>
        <a className={buttonClass()} href="/">
          {text.home}
        </a>
      </>
    );
  const isOld = isStale(error);
  return (
    <>
      <p>{isOld ? text.confirmSignInHint : messageOf(error)}</p>
      {error instanceof ApiCallError && error.requestId !== null && (
        <p className="soft">{text.requestId(error.requestId)}</p>
      )}
      {isOld && <Button onClick={confirmSignIn}>{text.confirmSignIn}</Button>}
      {!isOld && retry && <Button onClick={retry}>{text.retry}</Button>}
    </>
  );
}

/** Returns the message of an error for a person, with what to do. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiCallError)) return error instanceof Error ? error.message : String(error);
  if (error.status === 0) return text.offlineWrite;
  const fixes = error.details.map(({ fix }) => fix).filter((fix) => fix !== undefined);
  return fixes.length === 0 ? error.message : fixes.join(' ');
}
