// Shows Markdown. The parser loads with the first text.
import { lazy, Suspense, type ReactNode } from 'react';
import styles from './parts.module.css';

const MarkdownTree = lazy(() => import('./markdown-tree.tsx'));

export function Markdown({ source }: { readonly source: string }): ReactNode {
  return (
    <div className={styles.markdown}>
      <Suspense fallback={source}>
        <MarkdownTree source={source} />
      </Suspense>
    </div>
  );
}
