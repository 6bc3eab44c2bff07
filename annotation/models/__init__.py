"""Tables of the core. A person and a model are the same thing here: a `Rater`.

    Scheme ─< Section ─< Question ─< Option
      │
    Study ─< Sheet ─< Row ─< Assignment >─ Rater >─ Study
               └──< Column
                       Assignment × Column × Question ─ Label, and its history in LabelEvent

What must be true is a constraint. All writes are in `annotation.actions`.
"""

from __future__ import annotations

from annotation.models.crowd import CrowdLink, Participant
from annotation.models.deletions import Deletion, DeletionPart
from annotation.models.experiments import Experiment, ExperimentSeat
from annotation.models.imports import Arrival, Import, ImportPart
from annotation.models.labels import Decision, Label, LabelEvent, Look, Skip
from annotation.models.lineage import Lineage
from annotation.models.people import Invite, Membership, Rater, User
from annotation.models.scheme import Option, Question, Scheme, SchemeRevision, Section
from annotation.models.study import Column, Role, Row, Sheet, Study
from annotation.models.trust import Attempt, AuditEvent, Background, Consent
from annotation.models.webhooks import Delivery, Webhook
from annotation.models.work import Assignment, Note, PastSubmission, Plan, Sitting
