// Entry of the web app.
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { applyTheme } from './data/preferences.ts';
import { AppProvider } from './data/provider.tsx';
import { startShortcuts } from './parts/shortcuts.ts';
import { FailedScreen, Loading } from './parts/states.tsx';
import { router } from './routes.tsx';
import './style/tokens.css';
import './style/base.css';

applyTheme();
startShortcuts();
// The code of the screen loads while the session opens. The start page is a redirect, before which the session reads
// the address.
if (location.pathname !== '/') void router.load();
createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <AppProvider
      waiting={<Loading />}
      failed={(error) => <FailedScreen error={error} retry={() => location.reload()} />}
    >
      <RouterProvider router={router} />
    </AppProvider>
  </StrictMode>,
);
