import { boolean, bytes } from '../../config/kinds.ts'

export const quotaSettings = {
  title: 'Quotas',
  rows: {
    'service.data.quota': boolean({
      sameOnAllNodes: true,
      default: false,
      help: 'Limit the uploaded files of contexts, users, groups of contexts and the store.',
    }),
    'service.data.quota.default': bytes({
      sameOnAllNodes: true,
      min: 0,
      default: -1,
      unlimited: 'no limit',
      help: 'Quota of a context without its own quota.',
    }),
    'service.data.quota.user-default': bytes({
      sameOnAllNodes: true,
      min: 0,
      default: -1,
      unlimited: 'no limit',
      help: 'Quota of a user without their own quota. It limits the files whose entry the user created.',
    }),
    'service.data.quota.provider-user-default': bytes({
      sameOnAllNodes: true,
      min: 0,
      unlimited: 'no limit',
      defaultText: '`service.data.quota.user-default`',
      help: 'Quota of a user without their own quota whom a sign-on through an identity provider created.',
    }),
  },
} as const
