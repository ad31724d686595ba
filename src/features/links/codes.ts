import { withStatus } from '../../base/error-text.ts'

export const linkCodes = {
  ...withStatus(403, {
    'link-password-required': {
      title: 'Password required',
      help: 'The public link has a password: send it together with the secret of the link.',
    },
    'link-password-wrong': {
      title: 'Password of the link wrong',
      help: 'The password of the public link is wrong. The attempt counts towards a lockout.',
    },
  }),
  ...withStatus(404, {
    'link-gone': {
      title: 'Link no longer works',
      help: 'The public link is incomplete, unknown or revoked, its file was deleted, or its creator may no longer share it. Ask the person who sent it for a new one.',
    },
    'link-expired': {
      title: 'Link expired',
      help: 'The time of the public link is over. Ask its creator for a new one.',
    },
    'link-used-up': {
      title: 'Link used up',
      help: 'The public link has reached its number of downloads. Ask its creator for a new one.',
    },
  }),
}

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    links: keyof typeof linkCodes
  }
}
