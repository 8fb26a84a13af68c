import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { IssueView } from './view.tsx';

export default function IssuePage(): ReactNode {
  const { identifier } = useParams({ from: '/issues/$identifier' });
  return <IssueView key={identifier} identifier={identifier} isPage />;
}
