// Sends the forms with `data-passkey="create"` or `data-passkey="get"`: fetches the WebAuthn options from the form's action followed by
// `/options`, calls the authenticator, and posts the result with the other form fields. The forms stay hidden until the script runs, so
// that browsers without WebAuthn do not show them.
'use strict';

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
const withBytes = (list = []) => list.map((one) => ({ ...one, id: bytesOf(one.id) }));

// Browsers have had JSON methods for WebAuthn since 2023 to 2025; the fallbacks serve older ones.
const readers = {
  create: (options) =>
    PublicKeyCredential.parseCreationOptionsFromJSON?.(options) ?? {
      ...options,
      challenge: bytesOf(options.challenge),
      user: { ...options.user, id: bytesOf(options.user.id) },
      excludeCredentials: withBytes(options.excludeCredentials),
    },
  get: (options) =>
    PublicKeyCredential.parseRequestOptionsFromJSON?.(options) ?? {
      ...options,
      challenge: bytesOf(options.challenge),
      allowCredentials: withBytes(options.allowCredentials),
    },
};

const written = (credential) => {
  if (credential.toJSON) return credential.toJSON();
  const { id, type, response } = credential;
  const names = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const parts = names.filter((name) => response[name]).map((name) => [name, textOf(response[name])]);
  const transports = response.getTransports ? { transports: response.getTransports() } : {};
  return { id, rawId: id, type, response: { ...Object.fromEntries(parts), ...transports } };
};

const send = async (path, body) => {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error.message);
  return said;
};

const ask = async (form) => {
  const fields = Object.fromEntries(new FormData(form));
  const kind = form.dataset.passkey;
  const path = form.getAttribute('action');
  const options = await send(`${path}/options`, fields);
  const credential = await navigator.credentials[kind]({ publicKey: readers[kind](options) });
  const { to } = await send(path, { ...fields, credential: written(credential) });
  location.assign(to);
};

const wordsOf = (error) => {
  if (error.name === 'NotAllowedError') return 'No passkey was used. Try again when you are ready.';
  if (error.name === 'InvalidStateError') return 'This device already has a passkey for your account.';
  // Messages of browsers are technical and localized, so they are replaced. Errors of this server are no DOMException and are shown.
  if (error instanceof DOMException)
    return `This browser could not use a passkey (${error.name}). Use another device, or sign in another way.`;
  return error.message;
};

const attempt = async (form) => {
  const problem = form.querySelector('[role=alert]');
  const button = form.querySelector('button');
  problem.textContent = '';
  button.disabled = true;
  try {
    await ask(form);
  } catch (error) {
    problem.textContent = wordsOf(error);
  } finally {
    button.disabled = false;
  }
};

if (window.PublicKeyCredential)
  for (const form of document.querySelectorAll('form[data-passkey]')) {
    form.hidden = false;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void attempt(form);
    });
  }
