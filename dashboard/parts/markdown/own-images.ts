// Images of this server in Markdown. A screen provides those that belong to the texts that it shows.
import { createContext, type ReactNode } from 'react';

/** Returns an image of this server by its address in a text; null for all other addresses. */
export interface ImageOf {
  (src: string, name: string): ReactNode;
}

export const OwnImages = createContext<ImageOf>(() => null);
